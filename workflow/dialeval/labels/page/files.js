/* Saves labels as a file, and opens saved files. */
const filesOf = (sheet, kept, shown) => {
  "use strict";

  const FORMAT = "dialeval-labels";
  const VERSION = 1;
  const COLUMNS = ["protocol", "annotator", "draw", "key", "criterion", "label", "place", "skipped", "comment", "round", "question", "options", "rubric"];

  /** Returns a record for each answer, and for each question of a unit that was skipped. */
  function records() {
    return kept.list().flatMap((entry) => {
      const { answers, skipped, comment } = kept.slot(entry);
      const common = { key: entry.unit.key, comment, round: entry.round };
      return sheet.questions.flatMap((question) => {
        const { criterion } = question;
        const answer = answers[criterion];
        const context = { question: question.text, options: sheet.answersOf(question), rubric: sheet.rubricOf(question) };
        if (sheet.isWhole(question, answer)) {
          const place = answer.place === undefined ? {} : { place: answer.place };
          return [{ ...common, criterion, label: answer.label, ...place, skipped: false, ...context }];
        }
        return skipped ? [{ ...common, criterion, label: null, skipped: true, ...context }] : [];
      });
    });
  }

  /** Returns the comments on items without an answer, so that the file has every comment. */
  function looseComments() {
    return kept.list().flatMap((entry) => {
      const { comment } = kept.slot(entry);
      const isLoose = comment && ["open", "part"].includes(kept.stateOf(entry));
      return isLoose ? [{ key: entry.unit.key, round: entry.round, comment }] : [];
    });
  }

  function exported() {
    const { protocol, annotator, draw } = sheet;
    return { format: FORMAT, version: VERSION, protocol, annotator, draw, labels: records(), open: looseComments() };
  }

  /** Returns a value as a cell of CSV; a text that a spreadsheet program would compute as a formula gets an apostrophe. */
  function quoted(value) {
    const isFormula = typeof value === "string" && /^'*[=+\-@\t\r\n＝＋－＠]/.test(value);
    const text = `${isFormula ? "'" : ""}${value ?? ""}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  function table() {
    const { protocol, annotator, draw } = sheet;
    const numbered = (label) => (String(Number(label)) === label ? Number(label) : label);
    const rows = records().map((record) => ({ protocol, annotator, draw, ...record, label: numbered(record.label) }));
    const lines = [COLUMNS, ...rows.map((row) => COLUMNS.map((name) => row[name]))];
    return `\ufeff${lines.map((line) => line.map(quoted).join(",")).join("\r\n")}\r\n`;
  }

  function download(text, type, suffix) {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = `${sheet.protocol}-${sheet.annotator}.${suffix}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // some browsers begin to read only later
  }

  function save() {
    const content = exported();
    download(`${JSON.stringify(content, null, 1)}\n`, "application/json", "json");
    kept.saved();
    shown.drawState();
    const parts = kept.list().filter((entry) => kept.stateOf(entry) === "part").length;
    const open = parts ? ` ${counted(parts, "item")} partly labelled: the file has the answers so far.` : "";
    showMessage(`Saved ${counted(content.labels.length, "label")} as ${sheet.protocol}-${sheet.annotator}.json.${open}`);
  }

  const saveTable = () => download(table(), "text/csv", "csv");

  // ---- Opening ----

  /** Returns why a file is refused; empty if it is not. */
  function refusal(content) {
    if (content?.format !== FORMAT || !Array.isArray(content.labels)) {
      return "This file was not saved by a labelling page.";
    }
    if (content.version !== VERSION) {
      return `This file has version ${content.version}. This page reads version ${VERSION}.`;
    }
    for (const field of ["protocol", "annotator", "draw"]) {
      if (content[field] !== sheet[field]) {
        return `This file has another ${field} (${content[field]}) than this page (${sheet[field]}).`;
      }
    }
    return "";
  }

  /** Reads records into slots and counts the records that do not match this page. */
  function slotsOf(content) {
    const slots = new Map();
    let foreign = 0;
    const slotOf = ({ key, round }) => {
      const name = `${round}:${key}`;
      if (!slots.has(name)) {
        slots.set(name, { entry: { unit: sheet.byKey.get(key), round }, answers: {}, skipped: false, comment: "" });
      }
      return slots.get(name);
    };
    for (const record of [...content.labels, ...(content.open ?? [])]) {
      const question = sheet.questions.find(({ criterion }) => criterion === record?.criterion);
      const answer = { label: record?.label, ...(record?.place === undefined ? {} : { place: record.place }) };
      const unit = sheet.byKey.get(record?.key);
      const hasLabel = question && record.label !== null && !record.skipped;
      const isOfOtherScale = hasLabel && (record.options ?? sheet.scales[question.criterion]) !== sheet.scales[question.criterion]
        && question.criterion in sheet.scales;
      const isOfOtherWords = hasLabel && (record.question ?? question.text) !== question.text;
      if (!unit || ![0, 1].includes(record.round) || (record.criterion !== undefined && !question)
        || isOfOtherScale || isOfOtherWords || (hasLabel && !(sheet.isLabel(question, record.label) && sheet.isPlace(unit, answer)))) {
        foreign += 1;
        continue;
      }
      const slot = slotOf(record);
      slot.comment = String(record.comment ?? "");
      if (hasLabel) {
        slot.answers[question.criterion] = answer;
      }
      slot.skipped ||= record.skipped === true;
    }
    return { slots: [...slots.values()], foreign };
  }

  const isSame = (one, other) => JSON.stringify([one?.label, one?.place]) === JSON.stringify([other?.label, other?.place]);

  function merge(slots, { theirs }) {
    let taken = 0;
    let differing = 0;
    for (const { entry, answers, skipped, comment } of slots) {
      const mine = kept.slot(entry);
      const merged = { ...mine.answers };
      for (const [criterion, answer] of Object.entries(answers)) {
        const conflicts = merged[criterion] !== undefined && !isSame(merged[criterion], answer);
        differing += conflicts;
        if (merged[criterion] === undefined || (conflicts && theirs)) {
          merged[criterion] = answer;
          taken += 1;
        }
      }
      if (entry.round === 1) {
        kept.set("again", Math.max(kept.get("again"), sheet.units.indexOf(entry.unit) + 1));
      }
      const changed = { answers: merged, skipped: mine.skipped || skipped, comment: mine.comment || comment };
      if (JSON.stringify(changed) !== JSON.stringify({ answers: mine.answers, skipped: mine.skipped, comment: mine.comment })) {
        kept.change(entry, changed, { undoable: false });
      }
    }
    shown.refresh();
    return { taken, differing };
  }

  const showResult = (text) => {
    byId("file-message").textContent = text;
  };

  async function open(file) {
    byId("file-conflicts").hidden = true;
    let content;
    try {
      content = JSON.parse(await file.text());
    } catch (problem) {
      showResult(`${file.name} cannot be read as a saved file: ${problem.message}`);
      return;
    }
    const refused = refusal(content);
    if (refused) {
      showResult(`${file.name}: ${refused} No label was loaded.`);
      return;
    }
    const { slots, foreign } = slotsOf(content);
    const { taken, differing } = merge(slots, { theirs: false });
    showResult(
      `${counted(taken, "label")} loaded from ${file.name}.` +
        (foreign ? ` ${counted(foreign, "record")} ignored: they do not match this page's items and questions.` : "") +
        (differing ? ` The file differs in ${counted(differing, "label")}. The page's labels stay unless you choose the file's.` : ""),
    );
    byId("file-conflicts").hidden = differing === 0;
    byId("take-file").onclick = () => {
      const { taken: replaced } = merge(slots, { theirs: true });
      showResult(`${counted(replaced, "label")} replaced by those of ${file.name}.`);
      byId("file-conflicts").hidden = true;
    };
    byId("keep-mine").onclick = () => {
      showResult("The page's labels stay.");
      byId("file-conflicts").hidden = true;
    };
  }

  byId("open-file").addEventListener("change", ({ target }) => {
    if (target.files.length) {
      open(target.files[0]);
      target.value = ""; // the same file can be opened again
    }
  });

  return { save, saveTable };
};
