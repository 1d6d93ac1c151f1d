// Pictures on canvases: functions with their band, contours of two columns, histograms.

export const COLOURS = { belief: "#0072b2", matched: "#00795a", standard: "#8a5a00", bad: "#d55e00" };
const INK = "#1d2329", QUIET = "#56616b", GRID = "#e6eaed";

export function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(1);
  return String(Number(value.toPrecision(size >= 1000 ? 4 : 3)));
}

export function prepare(canvas) {
  const box = canvas.getBoundingClientRect(), scale = window.devicePixelRatio || 1;
  const width = Math.max(box.width - 2, 50), height = Math.max(box.height - 2, 20);
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.font = "11px system-ui, sans-serif";
  return { pen, width, height };
}

function ticks(low, high, count) {
  const rough = (high - low) / count, base = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * base).find((s) => s >= rough);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step);
  return found;
}

// The frame of a picture: axes, and functions from values to pixels and back.
export function frame(canvas, xs, ys, xName, yName) {
  const { pen, width, height } = prepare(canvas);
  const left = 44, right = width - 16, top = 8, bottom = height - 32;
  const x = (v) => left + ((v - xs[0]) / (xs[1] - xs[0])) * (right - left);
  const y = (v) => bottom - ((v - ys[0]) / (ys[1] - ys[0])) * (bottom - top);
  pen.strokeStyle = GRID;
  pen.fillStyle = QUIET;
  pen.lineWidth = 1;
  pen.textAlign = "center";
  for (const v of ticks(...xs, Math.max(2, width / 80))) {
    line(pen, [[x(v), top], [x(v), bottom]]);
    pen.fillText(short(v), x(v), bottom + 13);
  }
  pen.textAlign = "right";
  for (const v of ticks(...ys, height / 45)) {
    line(pen, [[left, y(v)], [right, y(v)]]);
    pen.fillText(short(v), left - 5, y(v) + 4);
  }
  pen.textAlign = "center";
  pen.fillStyle = INK;
  pen.fillText(clip(xName, 40), (left + right) / 2, height - 5);
  pen.save();
  pen.translate(10, (top + bottom) / 2);
  pen.rotate(-Math.PI / 2);
  pen.fillText(clip(yName, 28), 0, 0);
  pen.restore();
  pen.save();
  pen.beginPath();
  pen.rect(left, top, right - left, bottom - top);
  pen.clip();
  const xBack = (p) => xs[0] + ((p - left) / (right - left)) * (xs[1] - xs[0]);
  const yBack = (p) => ys[0] + ((bottom - p) / (bottom - top)) * (ys[1] - ys[0]);
  return { pen, x, y, xBack, yBack, left, right, top, bottom };
}

function clip(text, most) { return text.length > most ? text.slice(0, most - 1) + "…" : text; }

export function line(pen, points) {
  pen.beginPath();
  points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
}

function band(at, xs, [low, high], colour, alpha) {
  const { pen, x, y } = at;
  pen.beginPath();
  xs.forEach((v, i) => (i ? pen.lineTo(x(v), y(high[i])) : pen.moveTo(x(v), y(high[i]))));
  for (let i = xs.length - 1; i >= 0; i--) pen.lineTo(x(xs[i]), y(low[i]));
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  pen.fill();
  pen.globalAlpha = 1;
}

// Draws of functions over their band; `rulers` are a length and a height to show beside them.
export function functions(canvas, picture, colour, view, { chosen = -1, rulers = null } = {}) {
  const at = frame(canvas, [picture.x[0], picture.x.at(-1)], view.ys, view.xName, view.yName);
  const { pen, x, y } = at;
  if (picture.noise_band) band(at, picture.x, picture.noise_band, colour, 0.09);
  band(at, picture.x, picture.band, colour, 0.14);
  picture.lines.forEach((values, i) => {
    pen.strokeStyle = i === chosen ? COLOURS.bad : colour;
    pen.lineWidth = i === chosen ? 3 : 1.3;
    pen.globalAlpha = i === chosen ? 1 : 0.85;
    line(pen, values.map((v, k) => [x(picture.x[k]), y(v)]));
  });
  pen.globalAlpha = 1;
  if (rulers) ruler(at, rulers);
  pen.restore();
  return at;
}

function ruler({ pen, x, y, left, bottom, xBack, yBack }, { length, height }) {
  pen.strokeStyle = pen.fillStyle = INK;
  pen.lineWidth = 2;
  const x0 = left + 14, y0 = bottom - 12;
  const x1 = x(xBack(x0) + length), y1 = y(yBack(y0) + height);
  line(pen, [[x0, y1], [x0, y0], [x1, y0]]);
  pen.textAlign = "left";
  pen.fillText(short(length), Math.min(x1 + 4, left + 150), y0 + 4);
  pen.fillText(short(height), x0 + 4, Math.max(y1 + 4, 20));
}

export function posterior(canvas, picture, view) {
  const at = frame(canvas, [picture.x[0], picture.x.at(-1)], view.ys, view.xName, view.yName);
  const { pen, x, y } = at;
  band(at, picture.x, picture.noise_band, COLOURS.matched, 0.12);
  band(at, picture.x, picture.band, COLOURS.matched, 0.3);
  pen.fillStyle = INK;
  pen.globalAlpha = 0.6;
  for (const [a, b] of picture.dots) {
    pen.beginPath();
    pen.arc(x(a), y(b), 2, 0, 7);
    pen.fill();
  }
  pen.globalAlpha = 1;
  pen.strokeStyle = COLOURS.matched;
  pen.lineWidth = 2;
  line(pen, picture.mean.map((v, i) => [x(picture.x[i]), y(v)]));
  pen.restore();
}

export function bars(canvas, counts, colour, { expected = null } = {}) {
  const { pen, width, height } = prepare(canvas);
  const most = Math.max(...counts, expected || 0, 1), each = width / counts.length;
  pen.fillStyle = colour;
  counts.forEach((count, i) => {
    const tall = (count / most) * (height - 4);
    pen.fillRect(i * each + 0.5, height - tall, Math.max(each - 1, 1), tall);
  });
  if (expected !== null) {
    pen.setLineDash([5, 4]);
    pen.strokeStyle = INK;
    const tall = height - (expected / most) * (height - 4);
    line(pen, [[0, tall], [width, tall]]);
  }
}

// Blue to yellow through grey (cividis): even for colour-blind people.
const STOPS = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];

function shade(share) {
  const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1), i = Math.min(Math.floor(at), STOPS.length - 2);
  return STOPS[i].map((v, k) => Math.round(v + (at - i) * (STOPS[i + 1][k] - v)));
}

// A function of two columns as colours with contours; `grid` has the first column varying fastest.
export function contours(canvas, grid, n, xs, ys, [low, high], names) {
  const at = frame(canvas, xs, ys, ...names);
  const { pen, left, right, top, bottom } = at;
  const small = document.createElement("canvas");
  small.width = small.height = n;
  const image = small.getContext("2d").createImageData(n, n);
  grid.forEach((value, k) => {
    const pixel = 4 * ((n - 1 - Math.floor(k / n)) * n + (k % n));
    image.data.set([...shade((value - low) / (high - low)), 255], pixel);
  });
  small.getContext("2d").putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = true;
  pen.drawImage(small, left, top, right - left, bottom - top);
  const px = (i) => left + (i / (n - 1)) * (right - left), py = (j) => bottom - (j / (n - 1)) * (bottom - top);
  pen.lineWidth = 1;
  const labels = [];
  const free = (a, b) => labels.every(([c, d]) => Math.hypot(a - c, b - d) > 36);
  for (const level of ticks(low, high, 8)) {
    pen.strokeStyle = level > (low + high) / 2 ? "#000" : "#fff";
    let label = true;
    for (let j = 0; j + 1 < n; j++) for (let i = 0; i + 1 < n; i++) {
      const cut = crossings(grid, n, i, j, level);
      for (let k = 0; k + 1 < cut.length; k += 2) {
        line(pen, [cut[k], cut[k + 1]].map(([a, b]) => [px(a), py(b)]));
        const [a, b] = [px(cut[k][0]), py(cut[k][1])];
        if (label && i > 2 && i < n - 4 && j > 1 && free(a, b)) {
          pen.fillStyle = pen.strokeStyle;
          pen.fillText(short(level), a, b - 2);
          labels.push([a, b]);
          label = false;
        }
      }
    }
  }
  pen.restore();
}

function crossings(grid, n, i, j, level) {
  const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
  const found = [];
  corners.forEach(([a, b], k) => {
    const [c, d] = corners[(k + 1) % 4], u = grid[b * n + a] - level, v = grid[d * n + c] - level;
    if (u < 0 !== v < 0) found.push([a + (u / (u - v)) * (c - a), b + (u / (u - v)) * (d - b)]);
  });
  return found;
}
