/* The sheet: units, questions and possible answers. */
const readSheet = async () => {
  "use strict";

  const packed = byId("sheet");
  const bytes = Uint8Array.from(atob(packed.textContent), (character) => character.charCodeAt(0));
  packed.remove();
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const sheet = await new Response(plain).json();

  const KEYS = [..."1234567890-="];
  const MOST_BUTTONS = 11; // for a scale of whole numbers; a longer scale has a field for the number

  function turns(numbers) {
    const found = [];
    for (let place = 0; place < numbers.length; place += 3) {
      const [speaker, text, judged] = numbers.slice(place, place + 3);
      found.push({ speaker: sheet.strings[speaker], text: sheet.strings[text], judged: judged === 1 });
    }
    return found;
  }

  function wholeNumbers({ low, high }) {
    const whole = Number.isInteger(low) && Number.isInteger(high) && high - low < MOST_BUTTONS;
    return whole ? Array.from({ length: high - low + 1 }, (_, step) => [low + step, ""]) : [];
  }

  /** Gives each answer a key: a digit answers its own label; other labels get the remaining keys in order. */
  function withKeys(options) {
    const digits = new Set(options.map(([label]) => String(label)).filter((label) => /^\d$/.test(label)));
    const left = KEYS.filter((key) => !digits.has(key));
    return options.map(([label, meaning, shown]) => ({
      label,
      meaning,
      shown,
      key: digits.has(String(label)) ? String(label) : (left.shift() ?? ""),
    }));
  }

  const questions = sheet.questions.map((question) => {
    const options = question.options.length ? question.options : wholeNumbers(question);
    return { ...question, isNumber: question.options.length === 0, options: withKeys(options) };
  });

  const units = sheet.units.map(([key, dialogues]) => ({ key, dialogues: dialogues.map(turns) }));
  const byKey = new Map(units.map((unit) => [unit.key, unit]));

  /** Whether an answer needs the first utterance that shows the criterion. */
  const wantsPlace = (answer) => sheet.form === "locate" && answer?.label === "Yes";

  function isLabel(question, label) {
    if (question.options.length) {
      return question.options.some((option) => option.label === label);
    }
    return typeof label === "number" && label >= question.low && label <= question.high;
  }

  /** Returns the possible answers to a question, as in a spreadsheet. */
  const answersOf = ({ isNumber, low, high, options }) =>
    isNumber ? `a number from ${low} to ${high}` : options.map(({ label }) => label).join("; ");

  /** Returns the answers with their meanings, as in a spreadsheet; empty if none has a meaning. */
  const rubricOf = ({ options }) =>
    options.some(({ meaning }) => meaning)
      ? options.map(({ label, meaning }) => (meaning ? `${label} (${meaning})` : `${label}`)).join("; ")
      : "";

  /** The questions by criterion: answers to another wording do not count. */
  const wording = Object.fromEntries(questions.map(({ criterion, text }) => [criterion, text]));

  /** The possible answers to questions with numbers, by criterion: numbers on another scale do not count. */
  const scales = Object.fromEntries(
    questions
      .filter(({ isNumber, options }) => isNumber || options.every(({ label }) => Number.isFinite(Number(label))))
      .map((question) => [question.criterion, answersOf(question)]),
  );

  /** Whether a question is completely answered; a stored answer may be invalid after the question changed. */
  const isWhole = (question, answer) =>
    answer !== undefined && isLabel(question, answer.label) && (!wantsPlace(answer) || answer.place !== undefined);

  function isPlace(unit, answer) {
    return wantsPlace(answer)
      ? answer.place === undefined || unit.dialogues[0][answer.place - 1]?.judged === true
      : answer.place === undefined;
  }

  return { ...sheet, strings: undefined, questions, units, byKey, wantsPlace, isWhole, isLabel, isPlace, answersOf, rubricOf, scales, wording };
};
