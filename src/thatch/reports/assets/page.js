"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Figures: plotly's specifications stand beside their places; colours come from the style sheet.
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const theme = () => {
    const axis = {gridcolor: style("--grid"), linecolor: style("--line"), zerolinecolor: style("--line"),
      tickcolor: style("--line"), tickfont: {color: style("--dim")}, title: {font: {color: style("--dim"), size: 13}, standoff: 10}};
    return {layout: {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      colorway: style("--series").split(/,\s*/),
      font: {color: style("--text"), family: "system-ui, sans-serif", size: 12},
      hoverlabel: {bgcolor: style("--raised"), bordercolor: style("--line"), font: {color: style("--text")}, align: "left"},
      coloraxis: {colorscale: [[0, style("--low")], [1, style("--high")]],
        colorbar: {tickfont: {color: style("--dim")}, title: {font: {color: style("--dim")}}}},
      legend: {orientation: "h", x: 0, y: 1, yanchor: "bottom", xanchor: "left"},
      modebar: {bgcolor: "rgba(0,0,0,0)", color: style("--dim"), activecolor: style("--accent")},
      margin: {l: 16, r: 16, t: 32, b: 16},
      xaxis: axis, yaxis: axis,
    }};
  };
  // On a touch screen a finger on a figure scrolls the page.
  const touch = matchMedia("(pointer: coarse)").matches;
  const config = {responsive: true, displaylogo: false, showLink: false, showSendToCloud: false,
    displayModeBar: !touch, modeBarButtons: [["toImage", "resetScale2d"]]};
  const draw = () => all(".plot").forEach(plot => {
    const spec = JSON.parse(plot.nextElementSibling.textContent);
    Plotly.react(plot, spec.data, {...spec.layout, dragmode: touch ? false : "zoom", template: theme()}, config);
  });
  if (window.Plotly) {
    draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  }

  // Tables: a click on a heading sorts; numbers before texts, what is missing always last.
  const collator = new Intl.Collator("en", {numeric: true});
  const key = cell => {
    if (cell.dataset.v === "") return [2, 0];
    return cell.dataset.v === undefined ? [1, cell.textContent] : [0, Number(cell.dataset.v)];
  };
  const compare = (a, b, sign) => {
    if (a[0] === 2 || b[0] === 2) return a[0] - b[0];
    if (a[0] !== b[0]) return sign * (a[0] - b[0]);
    return sign * (a[0] ? collator.compare(a[1], b[1]) : a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0);
  };
  all("th button").forEach(button => button.addEventListener("click", () => {
    const heading = button.closest("th"), body = heading.closest("table").tBodies[0], column = heading.cellIndex;
    const up = heading.getAttribute("aria-sort") !== "ascending";
    all("th", heading.parentNode).forEach(each => each.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...body.rows].map(row => [key(row.cells[column]), row]);
    rows.sort((a, b) => compare(a[0], b[0], up ? 1 : -1));
    body.append(...rows.map(each => each[1]));
  }));

  // The command: copied where the browser allows it, else selected.
  all(".copy").forEach(button => button.addEventListener("click", async () => {
    const code = button.parentNode.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  }));
})();
