"use strict";
(() => {
  const { config, drawings, tables, charts } = JSON.parse(document.getElementById("chart-data").textContent);
  const boxes = [...document.querySelectorAll("[data-chart]")];
  const hidden = (box) => box.closest("details:not([open])") !== null;

  const rowsOf = (chart) =>
    tables[chart.table].map((row) => Object.fromEntries(chart.headings.map((name, i) => [name, row[i]])));

  async function draw(box) {
    if (box.dataset.state) return;
    box.dataset.state = "drawing";
    const chart = charts[box.dataset.chart];
    const spec = { ...drawings[chart.drawing] };
    if (spec.data && spec.data.name === "rows") spec.data = { values: rowsOf(chart) };
    try {
      await vegaEmbed(box, spec, {
        mode: "vega-lite",
        renderer: "svg",
        actions: false,
        ast: true, // expressions are interpreted, as the policy of the page forbids eval
        defaultStyle: false,
        config,
        tooltip: { disableDefaultStyle: true, theme: "report" },
      });
      box.dataset.state = "drawn";
    } catch (error) {
      box.dataset.state = "failed";
      box.textContent = "This chart could not be drawn here. Its data can be downloaded.";
      console.error(error);
    }
  }

  async function drawShown() {
    for (const box of boxes) {
      if (box.dataset.state || hidden(box)) continue;
      await draw(box);
      await new Promise((next) => setTimeout(next)); // lets the page react in between
    }
    document.documentElement.dataset.ready = "yes";
  }

  // A text that a spreadsheet would take for a formula is marked as text.
  const written = (value) => {
    if (value === null) return "";
    let text = String(value);
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && isNaN(Number(text))) {
      text = `'${text}`;
    }
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  const csv = (chart) =>
    [chart.headings, ...tables[chart.table]].map((row) => row.map(written).join(",")).join("\r\n");

  for (const link of document.querySelectorAll("a[data-download]")) {
    link.addEventListener("click", () => {
      const text = `\ufeff${csv(charts[link.dataset.download])}\r\n`;
      const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
      link.href = address;
      link.download = `${link.dataset.download}.csv`;
      setTimeout(() => URL.revokeObjectURL(address), 60000);
    });
  }

  for (const details of document.querySelectorAll("details")) {
    details.addEventListener("toggle", () => details.open && drawShown());
  }

  const showTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let part = target; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") part.open = true;
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", showTarget);

  // Paper cannot be unfolded, so parts are, while it is printed; but of several releases, only those
  // that the reader has opened. Drawing waits for nothing but promises that are kept at once, so it
  // is over before the browser lays out the paper.
  const CLOSED = "details.release:not([open])";
  let unfolded = [];
  addEventListener("beforeprint", () => {
    const folded = [...document.querySelectorAll("details:not([open])")];
    unfolded.push(...folded.filter((details) => !details.closest(CLOSED)));
    for (const details of unfolded) details.open = true;
    for (const box of boxes) if (!hidden(box)) draw(box);
  });
  addEventListener("afterprint", () => {
    for (const details of unfolded) details.open = false;
    unfolded = [];
  });

  document.getElementById("open-all").addEventListener("click", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  document.getElementById("print").addEventListener("click", () => print());
  document.getElementById("tools").hidden = false;
  drawShown().then(() => location.hash && showTarget());
})();
