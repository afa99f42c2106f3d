// SPDX-License-Identifier: BSD-3-Clause
// The page lives without this: it adds the timeline that zooms, sorting, search and light or dark.
"use strict";
(() => {
const root = document.documentElement, data = JSON.parse(document.getElementById("data").textContent);
const get = id => document.getElementById(id);
root.classList.add("js");

// ---- data -----------------------------------------------------------------------------------
// An event: location, begin, end, what, call, site, partner. See data.c.
const FIELDS = 7, CALL = data.states.length;
function unpack(numbers) {
	const n = numbers.length / FIELDS, lists = Array.from({ length: data.locations }, () => []);
	let location = 0, begin = 0;
	for (let i = 0; i < n; i++) {
		const at = i * FIELDS;
		if (numbers[at] !== 0) begin = 0;
		location += numbers[at];
		begin += numbers[at + 1];
		lists[location].push({ location, begin, end: begin + numbers[at + 2], what: numbers[at + 3],
			call: numbers[at + 4], site: numbers[at + 5], partner: numbers[at + 6] });
	}
	return lists;
}
const events = unpack(data.events), pieces = unpack(data.pieces);
const path = pieces.flat().sort((a, b) => a.begin - b.begin || a.end - b.end);
const rankOf = l => data.ranks ? data.ranks[l] : l, locationOf = r => data.ranks ? data.ranks.indexOf(r) : r;
const unletter = rows => rows.map(text => {
	const row = new Uint8Array(data.columns);
	let c = 0;
	for (const [, letter, times] of text.matchAll(/([a-h])(\d*)/g))
		for (let n = +(times || 1); n > 0; n--) row[c++] = letter.charCodeAt(0) - 97;
	return row;
});
const bins = unletter(data.bins), levels = data.levels && unletter(data.levels);
const rowOf = l => Math.floor(l * data.rows / data.locations);
function timeText(ns) {
	const s = Math.abs(ns);
	const digits = (value) => Number(value.toPrecision(6)).toString();
	return s >= 1e9 ? digits(ns / 1e9) + " s" : s >= 1e6 ? digits(ns / 1e6) + " ms" :
		s >= 1e3 ? digits(ns / 1e3) + " us" : ns + " ns";
}
const place = e => data.sites[e.site] || "a place that is not known";
const isWait = e => e.what < CALL;

// ---- view -----------------------------------------------------------------------------------
const canvas = get("live"), ink = canvas.getContext("2d");
const LEFT = 56, BOTTOM = 26, MOST_ROWS = 64;
let from = 0, to = data.run, top = 0, shown = data.locations, chosen = null, chain = [], found = null;
let wide = 0, high = 0;		// of the canvas: asking it would lay out the page each time
const width = () => wide, height = () => high;
const x = ns => LEFT + (ns - from) / (to - from) * (width() - LEFT);
const rowHeight = () => (height() - BOTTOM) / shown;
const y = l => (l - top) * rowHeight();
let colours = {};
function readColours() {
	picture = shades = null;
	const style = getComputedStyle(document.querySelector("svg.figure"));
	const value = name => style.getPropertyValue(name).trim();
	colours = { ink: value("--ink"), paper: value("--paper"), grid: value("--grid"), way: value("--way"),
		a: Array.from({ length: 8 }, (_, i) => value("--a" + i)) };
}
const colourOf = e => colours.a[isWait(e) ? data.stateActivity[e.what] : 2];

function firstBehind(list, ns) {	// of events in order of begin: those before may reach into it
	let low = 0, high = list.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (list[middle].begin < ns) low = middle + 1; else high = middle;
	}
	return low;
}
const longest = events.map(list => list.reduce((most, e) => Math.max(most, e.end - e.begin), 0));
function inView(list, most, act) {
	for (let i = firstBehind(list, from - most); i < list.length && list[i].begin <= to; i++)
		if (list[i].end >= from) act(list[i]);
}
// Cells as a picture of one point each, made anew for other colours; the browser scales it.
let picture = null, shades = null;
function paint(cells, colours) {	// red, green, blue and opacity of each value
	const painted = document.createElement("canvas");
	painted.width = data.columns;
	painted.height = data.rows;
	const to = painted.getContext("2d"), image = to.createImageData(data.columns, data.rows);
	for (let r = 0, i = 0; r < data.rows; r++)
		for (let c = 0; c < data.columns; c++, i += 4) image.data.set(colours[cells[r][c]], i);
	to.putImageData(image, 0, 0);
	return painted;
}
const rgb = colour => [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));
function drawBins() {
	const each = data.rows / data.locations, scale = data.columns / data.run;
	picture ||= paint(bins, colours.a.map(c => [...rgb(c), 255]));
	ink.imageSmoothingEnabled = false;
	ink.drawImage(picture, from * scale, top * each, (to - from) * scale, shown * each,
		LEFT, 0, width() - LEFT, height() - BOTTOM);
}
function drawEvents(h) {
	for (let l = Math.floor(top); l < Math.min(data.locations, top + shown + 1); l++) {
		const list = events[l];
		if (data.all && list.length > 0) {	// every call is there: between them is computation
			const left = Math.max(LEFT, x(list[0].begin)), right = x(list.reduce((m, e) => Math.max(m, e.end), 0));
			ink.fillStyle = colours.a[0];
			ink.fillRect(LEFT, y(l) + h * 0.07, width() - LEFT, h * 0.86);
			ink.fillStyle = colours.a[1];
			if (right > left) ink.fillRect(left, y(l) + h * 0.07, right - left, h * 0.86);
		}
		const above = y(l) + h * 0.07, least = data.all ? 0.1 : 0.7;
		let colour = null;
		inView(list, longest[l], e => {
			const left = Math.max(LEFT, x(e.begin)), w = x(e.end) - left;
			if (w < least) return;
			if (colourOf(e) !== colour) ink.fillStyle = colour = colourOf(e);
			ink.fillRect(left, above, w, h * 0.86);
			if (found && found(e)) {
				ink.strokeStyle = colours.ink;
				ink.strokeRect(left, above, Math.max(w, 2), h * 0.86);
			}
			if (w > 90 && h > 11 && !isWait(e)) {
				ink.fillStyle = "#000000";
				colour = null;
				ink.fillText(data.calls[e.call] || "", left + 3, y(l) + h / 2 + 4, w - 6);
			}
		});
	}
}
function pathLine(points) {
	for (const [colour, size] of [[colours.paper, 5], [colours.way, 2]]) {
		ink.strokeStyle = colour;
		ink.lineWidth = size;
		ink.beginPath();
		points.forEach(([px, py], i) => i ? ink.lineTo(px, py) : ink.moveTo(px, py));
		ink.stroke();
	}
	ink.lineWidth = 1;
}
// Where the path is all over the place: the middle of each row, the darker the more of the path is there.
function drawLevels() {
	const scale = data.columns / data.run, high = rowHeight() * data.locations / data.rows;
	shades ||= paint(levels, [0, 0.12, 0.3, 0.6, 1].map(share => [...rgb(colours.way), 255 * share]));
	ink.imageSmoothingEnabled = false;
	for (let r = 0; r < data.rows; r++)
		ink.drawImage(shades, from * scale, r, (to - from) * scale, 1,
			LEFT, y(r * data.locations / data.rows) + 0.3 * high, width() - LEFT, 0.4 * high);
}
function drawPath(h) {
	const points = [], many = firstBehind(path, to) - firstBehind(path, from) > 4 * width();
	const dense = (data.allPath || (to - from) / data.run < 0.02) && !(levels && many);
	if (dense) {
		for (const e of path)
			if (e.end >= from && e.begin <= to)
				points.push([Math.max(LEFT, x(e.begin)), y(e.location) + h / 2], [x(e.end), y(e.location) + h / 2]);
	} else if (levels)
		drawLevels();
	else
		data.way.forEach((row, c) => {
			const ns = c * data.run / data.columns;
			if (row >= 0 && ns >= from && ns <= to) {
				const py = y((row + 0.5) * data.locations / data.rows - 0.5) + h / 2;
				if (points.length) points.push([x(ns), points[points.length - 1][1]]);
				points.push([x(ns), py]);
			}
		});
	if (points.length) pathLine(points);
}
function drawAxes(h) {
	ink.fillStyle = colours.paper;
	ink.fillRect(0, 0, LEFT, height());
	ink.fillRect(0, height() - BOTTOM, width(), BOTTOM);
	ink.fillStyle = colours.ink;
	const each = Math.max(1, Math.ceil(13 / h));
	ink.textAlign = "right";
	for (let l = Math.ceil(top / each) * each; l < Math.min(data.locations, top + shown); l += each)
		ink.fillText(rankOf(l), LEFT - 6, y(l) + Math.max(h / 2, 6) + 4);
	let step = Math.pow(10, Math.floor(Math.log10((to - from) / 4)));
	while ((to - from) / step > Math.max(2, width() / 130)) step *= 2.5;
	ink.textAlign = "center";
	for (let ns = Math.ceil(from / step) * step; ns <= to; ns += step) {
		ink.strokeStyle = colours.grid;
		ink.beginPath();
		ink.moveTo(x(ns), height() - BOTTOM);
		ink.lineTo(x(ns), height() - BOTTOM + 5);
		ink.stroke();
		ink.fillText(timeText(Math.round(ns)), Math.min(x(ns), width() - 40), height() - 8);
	}
	ink.textAlign = "left";
}
function drawChosen(h) {
	const marked = chosen ? [chosen, ...chain] : [];
	ink.strokeStyle = colours.ink;
	ink.lineWidth = 2;
	marked.forEach((e, i) => {
		ink.strokeRect(Math.max(LEFT, x(e.begin)), y(e.location) + 1, Math.max(2, x(e.end) - Math.max(LEFT, x(e.begin))), h - 2);
		if (isWait(e) && e.partner >= 0) {	// from the one that was waited for
			const other = locationOf(e.partner);
			ink.setLineDash([4, 3]);
			ink.beginPath();
			ink.moveTo(x(e.end), y(other) + h / 2);
			ink.lineTo(x(e.end), y(e.location) + h / 2);
			ink.stroke();
			ink.setLineDash([]);
		}
	});
	ink.lineWidth = 1;
}
let asked = false;
function draw() {
	if (asked) return;
	asked = true;
	requestAnimationFrame(() => {
		asked = false;
		wide = canvas.clientWidth;
		high = canvas.clientHeight;
		const scale = devicePixelRatio || 1, h = rowHeight();
		canvas.width = Math.max(1, Math.round(width() * scale));
		canvas.height = Math.max(1, Math.round(height() * scale));
		ink.setTransform(scale, 0, 0, scale, 0, 0);
		ink.font = '12px "DejaVu Sans", Helvetica, Arial, sans-serif';
		ink.fillStyle = colours.paper;
		ink.fillRect(0, 0, width(), height());
		if (!data.all) drawBins();
		drawEvents(h);
		drawPath(h);
		drawChosen(h);
		drawAxes(h);
		canvas.dataset.from = from;
		canvas.dataset.to = to;
		canvas.dataset.drawn ||= Math.round(performance.now());		// ms after the page was asked for
	});
}
function look(begin, end) {
	const length = Math.min(data.run, Math.max(100, end - begin));
	from = Math.min(Math.max(0, begin), data.run - length);
	to = from + length;
	draw();
}
function zoom(factor, at = (from + to) / 2) {
	look(at - (at - from) * factor, at + (to - at) * factor);
}
function fitRows() {
	canvas.style.height = Math.min(640, Math.max(120, data.locations * 34)) + BOTTOM + "px";
}

// ---- what was chosen ------------------------------------------------------------------------
// What the one that was waited for did meanwhile: its own wait, if it had one, leads further.
function causeOf(wait) {
	const other = wait.partner < 0 ? -1 : locationOf(wait.partner);
	let best = null;
	if (other < 0) return null;
	for (const e of events[other])
		if (isWait(e) && e.begin < wait.end && e.end > wait.begin - (wait.end - wait.begin) &&
		    e.end <= wait.end && (!best || e.end - e.begin > best.end - best.begin)) best = e;
	return best;
}
function chainOf(wait) {
	const links = [];
	for (let e = causeOf(wait); e && links.length < 10 && !links.includes(e) && e !== wait; e = causeOf(e)) links.push(e);
	return links;
}
function sentence(e) {
	const what = "rank " + rankOf(e.location) + (isWait(e) ? " waited " : " was in " + (data.calls[e.call] || "a call") + " for ") +
		timeText(e.end - e.begin);
	return what + (isWait(e) && e.partner >= 0 ? " for rank " + e.partner : "") + " at " + timeText(e.begin) +
		(isWait(e) ? ", " + data.states[e.what] : "") + ", in " + place(e);
}
function choose(e) {
	const box = get("what");
	chosen = e;
	chain = e && isWait(e) ? chainOf(e) : [];
	box.replaceChildren();
	if (!e) box.append("Nothing is chosen.");
	else {
		const list = document.createElement("ol");
		for (const link of [e, ...chain]) {
			const item = document.createElement("li"), go = document.createElement("button");
			go.textContent = "show";
			go.addEventListener("click", () => look(link.begin - (link.end - link.begin), link.end + (link.end - link.begin)));
			item.append(sentence(link) + " ", go);
			list.append(item);
		}
		box.append(isWait(e) && chain.length ? "The wait, and the waits that led to it:" : "", list);
	}
	draw();
}
function at(px, py) {
	const l = Math.floor(top + py / rowHeight()), ns = from + (px - LEFT) / (width() - LEFT) * (to - from);
	const slack = (to - from) / width() * 2;
	let best = null;
	if (l < 0 || l >= data.locations || px < LEFT) return null;
	for (let i = firstBehind(events[l], ns - longest[l] - slack); i < events[l].length && events[l][i].begin <= ns + slack; i++) {
		const e = events[l][i];
		if (e.end + slack < ns) continue;
		if (!best || (isWait(e) && !isWait(best)) || (isWait(e) === isWait(best) && e.end - e.begin > best.end - best.begin)) best = e;
	}
	return best;
}

// ---- mouse and keys -------------------------------------------------------------------------
let drag = null;
canvas.addEventListener("pointerdown", e => { drag = { x: e.offsetX, from, to, moved: false }; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener("pointermove", e => {
	if (drag) {
		const by = (e.offsetX - drag.x) / (width() - LEFT) * (drag.to - drag.from);
		drag.moved = drag.moved || Math.abs(e.offsetX - drag.x) > 3;
		if (drag.moved) look(drag.from - by, drag.to - by);
		return;
	}
	const over = at(e.offsetX, e.offsetY);
	canvas.title = over ? sentence(over) : "";
});
canvas.addEventListener("pointerup", e => {
	if (drag && !drag.moved) choose(at(e.offsetX, e.offsetY));
	drag = null;
});
canvas.addEventListener("pointercancel", () => { drag = null; });
canvas.addEventListener("wheel", e => {
	if (e.ctrlKey) return;
	e.preventDefault();
	zoom(e.deltaY > 0 ? 1.25 : 0.8, from + (e.offsetX - LEFT) / (width() - LEFT) * (to - from));
}, { passive: false });
function isDark() {
	return root.classList.contains("dark") || (!root.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
}
function turn() {
	const dark = isDark();
	root.classList.toggle("dark", !dark);
	root.classList.toggle("light", dark);
	readColours();
	draw();
}
const keys = {
	w: () => zoom(0.7), s: () => zoom(1 / 0.7), a: () => look(from - (to - from) / 5, to - (to - from) / 5),
	d: () => look(from + (to - from) / 5, to + (to - from) / 5), 0: () => look(0, data.run), t: turn,
	"/": () => get("search").focus(), Escape: () => choose(null),
};
document.addEventListener("keydown", e => {
	if (e.ctrlKey || e.altKey || e.metaKey) return;
	if (e.target.tagName === "INPUT") {
		if (e.key === "Escape") e.target.blur();
		return;
	}
	if (keys[e.key]) {
		keys[e.key]();
		e.preventDefault();
	}
});
get("zoom-in").addEventListener("click", keys.w);
get("zoom-out").addEventListener("click", keys.s);
get("whole").addEventListener("click", keys[0]);
get("theme").addEventListener("click", turn);

// ---- search and tables ----------------------------------------------------------------------
get("search").addEventListener("input", () => {
	const word = get("search").value.trim().toLowerCase();
	const sites = data.sites.map(s => word !== "" && s.toLowerCase().includes(word));
	const calls = {};
	let lines = 0, hits = 0;
	for (const c in data.calls) calls[c] = word !== "" && data.calls[c].toLowerCase().includes(word);
	found = word === "" ? null : e => sites[e.site] || calls[e.call];
	for (const row of document.querySelectorAll("tbody tr")) {
		const hit = word !== "" && row.textContent.toLowerCase().includes(word);
		row.classList.toggle("found", hit);
		lines += hit;
	}
	if (found) for (const list of events) for (const e of list) hits += found(e);
	get("count").textContent = word === "" ? "" : lines + " lines of tables, " + hits + " calls and waits";
	draw();
});
for (const table of document.querySelectorAll("table")) {
	table.querySelectorAll("th").forEach((head, column) => {
		const button = document.createElement("button");
		button.tabIndex = 0;
		button.textContent = head.textContent;
		head.replaceChildren(button);
		button.addEventListener("keydown", e => { if (e.key === "Enter" || e.key === " ") { button.click(); e.preventDefault(); } });
		button.addEventListener("click", () => {
			const body = table.tBodies[0], down = head.getAttribute("aria-sort") !== "descending";
			const value = row => row.cells[column].dataset.v;
			const rows = [...body.rows].sort((a, b) => {
				const u = value(a), v = value(b);
				const order = u === undefined ? a.cells[column].textContent.localeCompare(b.cells[column].textContent) : u - v;
				return down ? -order : order;
			});
			for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
			head.setAttribute("aria-sort", down ? "descending" : "ascending");
			body.append(...rows);
		});
	});
}
for (const line of document.querySelectorAll(".chain")) {
	line.addEventListener("click", () => {
		const begin = +line.dataset.at, end = +line.dataset.to;
		look(begin - (end - begin), end + (end - begin));
		const wait = events[locationOf(+line.dataset.rank)].find(e => isWait(e) && e.begin === begin);
		if (wait) choose(wait);
		get("time").scrollIntoView();
	});
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });
addEventListener("resize", draw);
readColours();
fitRows();
draw();
root.dataset.ready = "yes";
})();
