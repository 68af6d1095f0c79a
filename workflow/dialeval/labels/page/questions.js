/* The questions about a unit, and their answers as buttons. */
const questionsOf = (sheet, act) => {
  "use strict";

  function optionButton(question, number, option, chosen) {
    const made = button("", "", () => act.answer(number, option.label));
    made.className = "option";
    made.setAttribute("aria-pressed", String(chosen));
    if (option.key && option.key !== String(option.label)) {
      made.append(element("kbd", "", option.key));
    }
    made.append(prose("span", "option-label", option.shown || String(option.label)));
    if (option.meaning && !option.shown) {
      made.append(prose("span", "meaning", option.meaning));
    }
    return made;
  }

  function numberField(question, number, answer) {
    const label = element("label", "number-field", `A number from ${question.low} to ${question.high} `);
    const field = element("input");
    field.type = "number";
    field.min = question.low;
    field.max = question.high;
    field.step = "any";
    field.value = answer?.label ?? "";
    field.addEventListener("change", () => {
      if (field.value !== "" && field.checkValidity()) {
        act.answer(number, Number(field.value));
      } else {
        field.reportValidity();
      }
    });
    label.append(field);
    return label;
  }

  /** Returns the layout of options: in a column if most have a meaning, in a row if at most two have one. */
  function layout(options) {
    const explained = options.filter(({ meaning }) => meaning).length;
    if (options.length > 2 && explained <= 2) {
      return explained ? "row with-ends" : "row";
    }
    return explained ? "with-meanings" : "";
  }

  function group(question, number, answer, isActive) {
    const made = element("fieldset", "question");
    made.classList.toggle("is-active", isActive);
    made.classList.toggle("is-answered", sheet.isWhole(question, answer));
    made.dataset.number = number;
    const legend = element("legend");
    const isNamed = question.text.toLowerCase().startsWith(question.criterion.toLowerCase());
    if (!isNamed && sheet.questions.length > 1) {
      legend.append(prose("strong", "criterion", question.criterion), " ");
    }
    legend.append(prose("span", "", question.text));
    made.append(legend);
    const answers = element("div", `options ${layout(question.options)}`);
    if (question.options.length) {
      answers.append(
        ...question.options.map((option) => optionButton(question, number, option, answer?.label === option.label)),
      );
    } else {
      answers.append(numberField(question, number, answer));
    }
    made.append(answers);
    if (sheet.wantsPlace(answer)) {
      const where = element("p", "where", answer.place === undefined ? "Choose the first utterance that shows it" : `First in utterance ${answer.place}.`);
      if (answer.place === undefined) {
        where.append(element("span", "by-keys", " (↑ ↓ and Enter)"), ".");
      }
      made.append(where);
    }
    made.addEventListener("focusin", () => act.attend(number));
    made.addEventListener("click", ({ target }) => {
      if (!target.closest("button, input")) {
        act.attend(number); // an answer has done so already, and may have moved on to another question
      }
    });
    return made;
  }

  /** Shows the questions with the answers so far. */
  function show(answers, active) {
    byId("questions").replaceChildren(
      ...sheet.questions.map((question, number) => group(question, number, answers[question.criterion], number === active)),
    );
    // a phone shows one question at a time; these buttons lead to the others
    byId("steps").hidden = sheet.questions.length === 1;
    byId("steps").replaceChildren(...sheet.questions.map((question, number) => step(question, number, answers[question.criterion])));
    mark(active);
  }

  function step(question, number, answer) {
    const { criterion } = question;
    const done = sheet.isWhole(question, answer);
    const made = button(`${criterion}${done ? " ✓" : ""}`, "", () => act.attend(number));
    made.setAttribute("aria-label", `${criterion}, ${done ? "answered" : "open"}`);
    return made;
  }

  /** Marks the question that number keys answer. */
  function mark(active) {
    for (const made of byId("questions").children) {
      made.classList.toggle("is-active", Number(made.dataset.number) === active);
    }
    [...byId("steps").children].forEach((made, number) => made.setAttribute("aria-pressed", String(number === active)));
    byId("steps").children[active]?.scrollIntoView({ block: "nearest", inline: "nearest" });
    byId("questions").children[active]?.scrollIntoView({ block: "nearest" });
  }

  return { show, mark };
};
