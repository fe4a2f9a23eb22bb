// Plots from the data beside each figure; the figure itself stays for paper and where no script runs.
(() => {
  const unpack = text => {
    const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
    return Array.from(new Float32Array(bytes.buffer), value => Number.isFinite(value) ? value : null);
  };
  const tick = value => value && Math.abs(value) < 1e-3 ? (+value.toPrecision(4)).toExponential() : short(value);
  const short = value => value == null ? "" : String(+value.toPrecision(4));
  const acrossHook = lines => u => {
    const {left, top, width, height} = u.bbox;
    u.ctx.save();
    for (const line of lines) {
      const at = Math.round(u.valToPos(line.y ?? line.x, line.y == null ? "x" : "y", true));
      if (line.y == null ? at < left || at > left + width : at < top || at > top + height) continue;
      u.ctx.strokeStyle = line.colour;
      u.ctx.beginPath();
      u.ctx.moveTo(line.y == null ? at : left, line.y == null ? top : at);
      u.ctx.lineTo(line.y == null ? at : left + width, line.y == null ? top + height : at);
      u.ctx.stroke();
    }
    u.ctx.restore();
  };
  function options(panel, over, width, key) {
    const series = [{label: over, value: (u, x) => short(x)}], bands = [];
    for (const band of panel.bands) {
      const side = {stroke: band.colour, width: 0, points: {show: false}};
      series.push({...side, label: band.name || "band", value: () => ""}, {...side, label: "lower", class: "quiet"});
      bands.push({series: [series.length - 2, series.length - 1], fill: band.colour});
    }
    for (const curve of panel.curves) series.push({
      label: curve.name || panel.title || panel.y, stroke: curve.colour, width: curve.width,
      dash: curve.dashed ? [6, 4] : undefined, value: (u, y) => short(y),
      points: {show: !curve.width, size: 4, fill: curve.colour},
      paths: curve.width ? curve.stepped ? uPlot.paths.stepped({align: 1}) : undefined : () => null,
    });
    const whole = (u, low, high) => {
      const [start, end] = [u.data[0][0], u.data[0].at(-1)], {min, max} = u.scales.x;
      if (panel.range && min <= start && max >= end) return panel.range;
      return panel.log ? uPlot.rangeLog(low, high, 10, false) : uPlot.rangeNum(low, high, 0.1, false);
    };
    const axis = {font: "12px system-ui,sans-serif", labelFont: "12px system-ui,sans-serif", labelSize: 18, size: 34,
      grid: {stroke: "#e3e8ee", width: 1}, ticks: {stroke: "#e3e8ee", width: 1, size: 4}, stroke: "#3d4b59",
      values: (u, splits) => splits.map(tick)};
    return {
      title: panel.title, width, height: Math.max(panel.height, 90) + (panel.x ? 52 : 34) + (panel.title ? 24 : 0),
      series, bands, scales: {x: {time: false}, y: {distr: panel.log ? 3 : 1, range: whole}},
      axes: [{...axis, label: panel.x || undefined}, {...axis, label: panel.y || undefined, size: 52, space: 16}],
      cursor: {sync: {key, setSeries: false}, y: false, points: {size: 6}}, legend: {live: true},
      hooks: {draw: [acrossHook(panel.lines)]},
    };
  }
  function table(panel, arrays) {
    const columns = [...panel.bands.flatMap(b => [[b.t, b.high], [b.t, b.low]]), ...panel.curves.map(c => [c.t, c.y])];
    if (columns.every(([t]) => t === columns[0][0])) return [arrays[columns[0][0]], ...columns.map(([, y]) => arrays[y])];
    return uPlot.join(columns.map(([t, y]) => [arrays[t], arrays[y]]));
  }
  function build(figure, number) {
    const {columns, arrays: packed, panels} = JSON.parse(figure.querySelector("script").textContent);
    const arrays = packed.map(unpack), place = document.createElement("div"), plots = [];
    place.className = "plots";
    figure.prepend(place);
    figure.classList.add("live");
    const wide = () => {
      const fit = Math.max(1, Math.min(columns, Math.floor(figure.clientWidth / 280)));
      place.style.gridTemplateColumns = `repeat(${fit}, minmax(0, 1fr))`;
      return Math.floor(figure.clientWidth / fit) - 8;
    };
    const over = panels.at(-1).x.split(/[[;]/)[0].trim() || "x";
    panels.forEach(panel => {
      const cell = document.createElement("div");
      place.append(cell);
      plots.push(new uPlot(options(panel, over, wide(), "plot" + number), table(panel, arrays), cell));
    });
    const hint = document.createElement("p");
    hint.className = "small hint";
    hint.textContent = "Drag to zoom, double-click to reset, click a name to hide its curve.";
    figure.append(hint);
    return () => plots.forEach(plot => plot.setSize({width: wide(), height: plot.height}));
  }
  document.querySelectorAll("figure.plot").forEach((figure, number) => {
    let resize = null, last = 0;
    new ResizeObserver(() => {
      if (!figure.clientWidth || figure.clientWidth === last) return;  // folded, or only its height changed
      last = figure.clientWidth;
      if (resize) resize(); else resize = build(figure, number);
    }).observe(figure);
  });
})();
