/* All verdicts about one dialogue: on it alone, and in comparisons, with both orders side by side.
 * All text of verdicts goes into the page as text nodes, never as markup. */
const verdictLists = (() => {
  "use strict";

  const OUTCOMES = [
    { name: "won", comparison: "won", single: "judged human" },
    { name: "tied", comparison: "tied", single: "tied" },
    { name: "lost", comparison: "lost", single: "judged AI" },
    { name: "none", comparison: "no verdict", single: "no verdict" },
  ];
  const TIE = 2;

  /** Turns the columns of a case's verdicts into one object per verdict. */
  function rows(verdicts) {
    const text = (place) => (place === undefined || place < 0 ? "" : verdicts.strings[place]);
    return verdicts.judge.map((judge, row) => ({
      judge,
      protocol: text(verdicts.protocol[row]),
      dialogue: verdicts.dialogue[row],
      criterion: text(verdicts.criterion[row]),
      value: verdicts.value[row],
      scale: text(verdicts.scale[row]),
      n: verdicts.n[row],
      left: verdicts.left[row],
      right: verdicts.right[row],
      choice: text(verdicts.choice[row]),
      outcome: verdicts.outcome[row],
      firstAi: verdicts.place[row],
      places: verdicts.places[row] ?? [],
      reason: text(verdicts.reason[row]),
      status: text(verdicts.status[row]),
      answer: text(verdicts.answer[row]),
      thoughts: text(verdicts.thoughts?.[row]),
      repeat: verdicts.repeat?.[row] ?? 0,
      read: text(verdicts.read?.[row]),
      facts: text(verdicts.facts?.[row]),
      probabilities: verdicts.probabilities?.[row] ?? [],
      prompt: verdicts.prompt?.[row] ?? -1,
    }));
  }

  const inWords = (criterion) => criterion.replaceAll("_", " ");

  /** Returns an object that draws the verdicts on dialogues, given the names of a page and the filter. */
  function drawer({ names: index, filter, onModel, sent }) {
    const isPerson = (judge) => index.people.includes(index.judges[judge]);

    function outcomeFor(model, verdict) {
      if (verdict.right < 0) {
        if (verdict.criterion) {
          return verdict.value === null && verdict.choice === "" ? OUTCOMES[3] : { name: "answered", single: answerText(verdict) };
        }
        return verdict.choice === "" ? OUTCOMES[3] : verdict.choice === "No" ? OUTCOMES[0] : OUTCOMES[2];
      }
      if (verdict.outcome < 0) {
        return OUTCOMES[3];
      }
      if (verdict.outcome === TIE) {
        return OUTCOMES[1];
      }
      return (verdict.outcome === 0 ? verdict.left : verdict.right) === model ? OUTCOMES[0] : OUTCOMES[2];
    }

    /** Returns a judge's answer on one criterion: a number on its scale, or a word. */
    function answerText({ value, scale, choice }) {
      const number = value === null ? "" : value.toLocaleString("en", { maximumFractionDigits: 3 });
      return [choice, number && (scale ? `${number} of ${scale}` : number)].filter(Boolean).join(": ");
    }

    /** Returns the verdicts to show: of annotated labels, only present and unparsed ones. */
    function worthALine(verdicts) {
      const isGood = ({ criterion }) => criterion === index.good_case;
      return verdicts.filter(
        (verdict) => !index.marking.includes(verdict.protocol) || verdict.choice === "Yes" || (verdict.choice === "" && !isGood(verdict)),
      );
    }

    function list(model, about) {
      const made = element("div", "verdicts");
      if (!about.length) {
        made.append(element("p", "muted", "No verdict about this dialogue."));
      }
      index.judges.forEach((name, judge) => {
        const ofJudge = about.filter((verdict) => verdict.judge === judge && isAgainstChosen(model, verdict));
        if (!ofJudge.length) {
          return;
        }
        made.append(prose("h5", "", `${isPerson(judge) ? `${name[0].toUpperCase()}${name.slice(1)}` : `Judge ${name}`} on ${index.models[model]}`));
        for (const [key, group] of grouped(ofJudge)) {
          made.append(group[0].right < 0 ? singles(model, group) : comparisons(model, key, group));
        }
      });
      return made;
    }

    /** Groups verdicts by protocol and, if it has several lengths N, by N; single dialogues first. */
    function grouped(verdicts) {
      const groups = new Map();
      const order = Object.keys(index.titles);
      const rank = ({ protocol }) => (order.indexOf(protocol) + 100) % 100;
      for (const verdict of [...verdicts].sort((left, right) => rank(left) - rank(right) || left.n - right.n)) {
        const at = index.at_lengths.includes(verdict.protocol) ? atLength(verdict.n) : "";
        const about = verdict.right >= 0 && verdict.criterion ? ` on ${verdict.criterion}` : "";
        const key = protocolName(verdict.protocol) + about + at;
        groups.set(key, [...(groups.get(key) ?? []), verdict]);
      }
      return groups;
    }

    function singles(model, verdicts) {
      const made = element("div", "singles");
      for (const verdict of worthALine(verdicts)) {
        const outcome = outcomeFor(model, verdict);
        const card = element("div", "verdict");
        const line = element("p", "verdict-line");
        const isMark = index.marking.includes(verdict.protocol);
        const about = verdict.criterion ? ` · ${isMark ? inWords(verdict.criterion) : verdict.criterion}` : "";
        line.append(element("strong", "", protocolName(verdict.protocol) + about), " ");
        line.append(cards.badge(outcome.name, outcome.single, verdict.status));
        if (verdict.places.length) {
          line.append(` in utterance${verdict.places.length > 1 ? "s" : ""} ${verdict.places.join(", ")}`);
        } else if (verdict.firstAi) {
          line.append(verdict.criterion ? ` in utterance ${verdict.firstAi}` : ` from utterance ${verdict.firstAi} on`);
        }
        card.append(line, ...cards.lines(verdict, sent));
        made.append(card);
      }
      return made;
    }

    function comparisons(model, key, verdicts) {
      const made = element("details", "comparisons");
      const summary = element("summary");
      summary.append(element("strong", "", key), " ");
      const tally = new Map();
      for (const verdict of verdicts) {
        const outcome = outcomeFor(model, verdict);
        tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
      }
      for (const outcome of OUTCOMES.filter((each) => tally.has(each))) {
        summary.append(element("span", `badge ${outcome.name}`, `${tally.get(outcome)} ${outcome.comparison}`), " ");
      }
      const list = element("ul");
      const draw = () => list.childElementCount || list.append(...inBothOrders(model, verdicts).map((both) => opposite(model, both)));
      made.append(summary, list);
      made.open = verdicts.length <= 2 || isFiltered(verdicts[0]);
      if (made.open) {
        draw();
      }
      made.addEventListener("toggle", draw); // a dialogue may have hundreds of comparisons: they are drawn when opened
      return made;
    }

    /** Returns whether the filter names this protocol, and this judge if it names judges. */
    function isFiltered({ judge, protocol, n }) {
      const chosen = filter.get("protocol") ?? [];
      const isOfJudge = !filter.has("judge") || filter.get("judge").includes(index.judges[judge]);
      return isOfJudge && (chosen.includes(protocol) || chosen.includes(`${protocol}/${n}`));
    }

    /** Returns whether the filter admits the opponent of a comparison. */
    function isAgainstChosen(model, verdict) {
      const chosen = filter.get("opponent");
      const pair = [model, against(model, verdict)].map((one) => index.models[one]);
      return !chosen || verdict.right < 0 || pair.some((name) => chosen.includes(name));
    }

    const against = (model, verdict) => (verdict.left === model ? verdict.right : verdict.left);

    /** Groups verdicts of a protocol by opponent, criterion and repeat; the order with the model first comes first. */
    function inBothOrders(model, verdicts) {
      const groups = new Map();
      for (const verdict of verdicts) {
        const key = [against(model, verdict), verdict.criterion, verdict.repeat].join("\n");
        groups.set(key, [...(groups.get(key) ?? []), verdict]);
      }
      const both = [...groups.values()].sort(([one], [other]) => against(model, one) - against(model, other));
      return both.map((group) => group.sort((one, other) => (one.left === model ? 0 : 1) - (other.left === model ? 0 : 1)));
    }

    function opposite(model, verdicts) {
      const item = element("li");
      const holder = element("div", verdicts.length > 1 ? "both-orders" : "");
      holder.append(...verdicts.map((verdict) => comparison(model, against(model, verdict), verdict)));
      item.append(holder);
      const outcomes = new Set(verdicts.map((verdict) => outcomeFor(model, verdict)));
      if (verdicts.length === 2 && verdicts[0].left !== verdicts[1].left && outcomes.size > 1 && !outcomes.has(OUTCOMES[3])) {
        item.append(element("p", "muted", "The verdict changes with the order of the two dialogues."));
      }
      return item;
    }

    function comparison(model, other, verdict) {
      const item = element("div", "verdict");
      const outcome = outcomeFor(model, verdict);
      const line = element("p", "verdict-line");
      line.append(cards.badge(outcome.name, outcome.comparison, verdict.status), " against ");
      const opponent = prose("button", "link", index.models[other]);
      opponent.type = "button";
      opponent.title = "Show this dialogue too";
      opponent.addEventListener("click", () => onModel(other));
      line.append(opponent);
      if (!isPerson(verdict.judge)) {
        line.append(element("span", "muted", `, ${verdict.left === model ? "shown first" : "shown second"}`));
      }
      if (verdict.choice) {
        line.append(element("span", "muted", `; ${index.shipped.includes(verdict.protocol) ? "judged AI" : "answer"}: ${verdict.choice}`));
      }
      item.append(line, ...cards.lines(verdict, sent));
      return item;
    }

    return { list };
  }

  return { rows, drawer, inWords };
})();
