/* The tools of tables and figures: filter rows, copy a link, download. All data are in the page. */
const tools = (() => {
  "use strict";

  /** Saves a text, or bytes, as a file. */
  function save(name, content, type) {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // some browsers begin to read only later
  }

  /** Copies a text and returns the words that tell the reader; older browsers need the second way. */
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return "Copied";
    } catch {
      const field = element("textarea");
      field.value = text;
      document.body.append(field);
      field.select();
      const isCopied = document.execCommand("copy");
      field.remove();
      return isCopied ? "Copied" : "Copy the address of this page";
    }
  }

  /** Shows the result of a button for a moment. */
  function confirm(button, words) {
    const label = button.firstChild;
    button.dataset.label ??= label.textContent;
    label.textContent = words;
    byId("announcement").textContent = words;
    setTimeout(() => {
      label.textContent = button.dataset.label;
    }, 1500);
  }

  async function copyLink(button) {
    const { address: place } = button.dataset;
    if (place && location.hash !== `#${place}`) {
      history.replaceState(null, "", `#${place}`);
    }
    confirm(button, await copy(location.href));
  }

  async function download(button) {
    const figure = button.closest("figure");
    if (figure) {
      const packed = atob(figure.querySelector("img").src.split(",")[1]);
      save(`${figure.id}.svg`, Uint8Array.from(packed, (character) => character.charCodeAt(0)), "image/svg+xml");
    } else {
      const { table } = button.closest(".tools").dataset;
      save(`${table.replace(/^table-/, "")}.csv`, await archive.unpack(byId(`${table}-csv`).textContent), "text/csv");
    }
    confirm(button, "Saved");
  }

  async function filter(field) {
    const holder = field.closest(".tools");
    const all = await rows.open(holder.dataset.table);
    const query = marking.fold(field.value.trim());
    const [found, total] = all.filter((text) => marking.has(text, query));
    holder.querySelector(".filtered").textContent = query ? `${found.toLocaleString("en")} of ${counted(total, "row")}` : "";
  }

  document.addEventListener("click", ({ target }) => {
    const button = target.closest("button.copy-link, button.download");
    if (button) {
      (button.matches(".download") ? download(button) : copyLink(button)).catch((error) => confirm(button, error.message));
    }
  });
  document.addEventListener("input", ({ target }) => {
    if (target.matches(".tools .filter input")) {
      filter(target);
    }
  });
  return { save };
})();
