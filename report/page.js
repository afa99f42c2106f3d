// SPDX-License-Identifier: BSD-3-Clause
// The page lives without this: it adds the timeline that zooms, sorting, search and light or dark.
"use strict";
(() => {
const root = document.documentElement, data = JSON.parse(document.getElementById("data").textContent);
const get = id => document.getElementById(id);
root.classList.add("js");

// ---- data -----------------------------------------------------------------------------------
// An event: location, begin, end, what, call, site, partner. See data.c. What is a state of a wait, or one of these;
// a cell stands for what is too short to be kept.
const FIELDS = 7, CALL = data.states.length, BLOCKED = CALL + 1, PREEMPTED = CALL + 2, COMPUTATION = CALL + 3, CELL = CALL + 4,
	NAMED = CALL + 5;		// a stretch in one function or region
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
const pieces = unpack(data.pieces), computations = unpack(data.computations);
const events = unpack(data.events).map((list, l) => list.concat(computations[l]).sort((a, b) => a.begin - b.begin));
const messages = unpack(data.messages).flat().sort((a, b) => b.end - b.begin - (a.end - a.begin));
const path = pieces.flat().sort((a, b) => a.begin - b.begin || a.end - b.end);
const rankOf = l => data.ranks ? data.ranks[l] : l, locationOf = r => data.ranks ? data.ranks.indexOf(r) : r;
const unletter = rows => rows.map(text => {
	const row = new Uint8Array(data.columns);
	let c = 0;
	for (const [, letter, times] of text.matchAll(/([a-j])(\d*)/g))
		for (let n = +(times || 1); n > 0; n--) row[c++] = letter.charCodeAt(0) - 97;
	return row;
});
const bins = unletter(data.bins), levels = data.levels && unletter(data.levels);
const rowOf = l => Math.floor(l * data.rows / data.locations);
// What is computed, by row and column: places of functions and regions, 0 where none is known. Rows of threads without
// calls come after those of ranks.
const NAMINGS = ["functions", "regions"].filter(by => data[by]);
function unrun(numbers) {
	const row = new Uint16Array(data.columns);
	for (let i = 0, c = 0; i < numbers.length; c += numbers[i + 1], i += 2) row.fill(numbers[i], c, c + numbers[i + 1]);
	return row;
}
for (const by of NAMINGS) data[by].rows = data[by].rows.map(unrun);
const nameOf = (by, place) => data[by].places[2 * place - 1];
const threads = [];
for (let i = 0; i < (data.threads || []).length; i += 3)
	threads.push({ location: data.threads[i], number: data.threads[i + 1], row: data.rows + i / 3, cells: unletter([data.threads[i + 2]])[0] });
// What the timeline shows, one below the other: locations, each with its threads if they are unfolded.
let lanes = [], slots = [];
function fold(open) {
	lanes = [];
	slots = [];
	for (let l = 0, t = 0; l < data.locations; l++) {
		slots.push(lanes.push({ location: l }) - 1);
		if (open) lanes.push(...threads.filter(thread => thread.location === l).map(thread => ({ location: l, thread })));
	}
	slots.push(lanes.length);
}
fold(false);
const columnAt = ns => Math.min(data.columns - 1, Math.max(0, Math.floor(ns / data.run * data.columns)));
// The place with most of the columns between two instants.
function mainPlace(by, row, begin, end) {
	const counts = new Map(), cells = data[by].rows[row];
	let best = 0;
	for (let c = columnAt(begin); cells && c <= columnAt(end); c++)
		if (cells[c]) {
			counts.set(cells[c], (counts.get(cells[c]) || 0) + 1);
			if (!best || counts.get(cells[c]) > counts.get(best)) best = cells[c];
		}
	return best;
}
function inside(row, begin, end) {
	const texts = NAMINGS.map(by => [by, mainPlace(by, row, begin, end)]).filter(([, at]) => at)
		.map(([by, at]) => (by === "regions" ? "in the region " : "in ") + data[by].places[2 * at - 2]);
	return texts.length ? ", mostly " + texts.join(" and ") : "";
}
const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
const unitOf = ns => UNITS.find(([size]) => Math.abs(ns) >= size) || UNITS[3];
function timeText(ns) {
	const [size, unit] = unitOf(ns);
	return Number((ns / size).toPrecision(6)) + " " + unit;
}
// 1, 2 or 5 times a power of ten, no less than LEAST.
function roundStep(least) {
	const power = Math.pow(10, Math.floor(Math.log10(least)));
	return [1, 2, 5, 10].find(n => n * power >= least * 0.999999) * power;
}
const place = e => data.sites[e.site] || "a place that is not known";
const isWait = e => e.what < CALL;

// ---- view -----------------------------------------------------------------------------------
const canvas = get("live"), ink = canvas.getContext("2d");
const LEFT = 56, BOTTOM = 26, LEAST_HOP = 3, MOST_MESSAGES = 3000;
const NAME_COLOURS = ["#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#7a5230", "#b8a800"], OTHER_NAME = "#9a8c7a";
const LANE = 0.76, WAY = 0.91, WAY_SIZE = 0.14;		// of a row: its lane, and below it the path, which hides nothing
let from = 0, to = data.run, top = 0, shown = data.locations, chosen = null, chain = [], found = null, showMessages = false;
let colouredBy = null, namedHits = [];		// null: by activity; else one of NAMINGS
let wide = 0, high = 0;		// of the canvas: asking it would lay out the page each time
const width = () => wide, height = () => high;
const x = ns => LEFT + (ns - from) / (to - from) * (width() - LEFT);
const rowHeight = () => (height() - BOTTOM) / shown;
const y = l => (slots[l] - top) * rowHeight();
let colours = {};
function readColours() {
	picture = shades = null;
	const style = getComputedStyle(document.querySelector("svg.figure"));
	const value = name => style.getPropertyValue(name).trim();
	colours = { ink: value("--ink"), paper: value("--paper"), grid: value("--grid"), way: value("--way"),
		a: Array.from({ length: 10 }, (_, i) => value("--a" + i)) };
}
const ACTIVITY = { [CALL]: 2, [BLOCKED]: 8, [PREEMPTED]: 9, [COMPUTATION]: 1 };
const activityOf = e => isWait(e) ? data.stateActivity[e.what] : ACTIVITY[e.what];
const colourOf = e => colours.a[activityOf(e)];
// Of a name: the most frequent ones have their own.
const nameColour = n => NAME_COLOURS[n] || OTHER_NAME;
// If computation is coloured by name, MPI and waits step back: half way to the paper.
function plain(activity) {
	if (!colouredBy || activity < 2 || activity > 7) return colours.a[activity];
	return activity === 2 ? colours.grid : colours.a[0];
}
const cellColour = (activity, place) => place && activity === 1 ? nameColour(nameOf(colouredBy, place)) : plain(activity);
// Stretches of equal cells between two instants.
function stretches(begin, end, same, act) {
	for (let c = columnAt(begin), to; c <= columnAt(end - 1e-6); c = to) {
		for (to = c + 1; to < data.columns && same(c, to);) to++;
		act(Math.max(begin, c * data.run / data.columns), Math.min(end, to * data.run / data.columns), c);
	}
}

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
function paint(colourAt) {	// red, green, blue and opacity
	const painted = document.createElement("canvas");
	painted.width = data.columns;
	painted.height = data.rows;
	const to = painted.getContext("2d"), image = to.createImageData(data.columns, data.rows);
	for (let r = 0, i = 0; r < data.rows; r++)
		for (let c = 0; c < data.columns; c++, i += 4) image.data.set(colourAt(r, c), i);
	to.putImageData(image, 0, 0);
	return painted;
}
const rgb = colour => [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));
function drawBins() {
	const each = data.rows / data.locations, scale = data.columns / data.run;
	const names = colouredBy && data[colouredBy].rows, known = new Map();
	const colour = text => known.get(text) || known.set(text, [...rgb(text), 255]).get(text);
	picture ||= paint((r, c) => colour(cellColour(bins[r][c], names && names[r][c])));
	ink.imageSmoothingEnabled = false;
	if (lanes.length > data.locations)
		for (let i = Math.floor(top); i < Math.min(lanes.length, top + shown + 1); i++)
			ink.drawImage(picture, from * scale, lanes[i].location, (to - from) * scale, 1,
				LEFT, (i - top) * rowHeight(), width() - LEFT, rowHeight() * LANE);
	else
		ink.drawImage(picture, from * scale, top * each, (to - from) * scale, shown * each,
			LEFT, 0, width() - LEFT, height() - BOTTOM);
}
function fillCells(begin, end, above, high, same, colour) {
	stretches(begin, end, same, (a, b, c) => {
		ink.fillStyle = colour(c);
		ink.fillRect(Math.max(LEFT, x(a)), above, x(b) - Math.max(LEFT, x(a)), high);
	});
}
function drawThread(thread, above, high) {
	const cells = thread.cells, names = colouredBy && data[colouredBy].rows[thread.row];
	fillCells(from, to, above, high, (a, b) => cells[a] === cells[b] && (!names || names[a] === names[b]),
		c => cellColour(cells[c], names && names[c]));
}
function drawEvents(h) {
	const high = h * LANE;
	for (let i = Math.floor(top); i < Math.min(lanes.length, top + shown + 1); i++) {
		const l = lanes[i].location, above = (i - top) * h, least = data.all ? 0.1 : 0.7, labels = [];
		const names = colouredBy && data[colouredBy].rows[rowOf(l)];
		let colour = null;
		if (lanes[i].thread) {
			drawThread(lanes[i].thread, above, high);
			continue;
		}
		if (data.all) {
			ink.fillStyle = colours.a[0];
			ink.fillRect(LEFT, above, width() - LEFT, high);
		}
		inView(events[l], longest[l], e => {
			const left = Math.max(LEFT, x(e.begin)), w = x(e.end) - left;
			if (w < least) return;
			if (plain(activityOf(e)) !== colour) ink.fillStyle = colour = plain(activityOf(e));
			if (names && e.what === COMPUTATION) {
				fillCells(Math.max(e.begin, from), Math.min(e.end, to), above, high, (a, b) => names[a] === names[b],
					c => cellColour(1, names[c]));
				colour = null;
			} else
				ink.fillRect(left, above, w, high);
			if (found && found(e)) {
				ink.strokeStyle = colours.ink;
				ink.strokeRect(left, above, Math.max(w, 2), high);
			}
			if (w > 90 && high > 11 && e.what === CALL) labels.push([data.calls[e.call] || "", left + 3, w - 6]);
		});
		ink.fillStyle = "#000000";		// after the waits in these calls, which would hide them
		for (const [name, left, most] of labels) ink.fillText(name, left, above + high / 2 + 4, most);
	}
}
// Below each lane that the path is in a line; from lane to lane thin ones, if they are not too close.
function pathLine(stretches, h) {
	const size = Math.min(4, Math.max(1.5, h * WAY_SIZE));
	let hop = -LEAST_HOP, last = null;
	ink.strokeStyle = ink.fillStyle = colours.way;
	ink.globalAlpha = 0.5;
	ink.beginPath();
	for (const [left, , py] of stretches) {
		if (last !== null && last !== py && left - hop >= LEAST_HOP) {
			ink.moveTo(hop = left, last);
			ink.lineTo(left, py);
		}
		last = py;
	}
	ink.stroke();
	ink.globalAlpha = 1;
	for (const [left, right, py] of stretches) ink.fillRect(left, py - size / 2, Math.max(0.5, right - left), size);
}
// Where the path is all over the place: the darker the more of the path is there.
function drawLevels() {
	const scale = data.columns / data.run, high = rowHeight() * data.locations / data.rows;
	const shade = [0, 0.12, 0.3, 0.6, 1].map(share => [...rgb(colours.way), 255 * share]);
	shades ||= paint((r, c) => shade[levels[r][c]]);
	ink.imageSmoothingEnabled = false;
	const above = r => lanes.length > data.locations ? y(r) : (r * data.locations / data.rows - top) * rowHeight();
	for (let r = rowOf(lanes[Math.floor(top)].location); r < data.rows && above(r) < height(); r++)
		ink.drawImage(shades, from * scale, r, (to - from) * scale, 1,
			LEFT, above(r) + (WAY - WAY_SIZE / 2) * high, width() - LEFT, WAY_SIZE * high);
}
function drawPath(h) {
	const stretches = [], many = firstBehind(path, to) - firstBehind(path, from) > 4 * width();
	const add = (begin, end, l) => stretches.push([Math.max(LEFT, x(begin)), x(end), y(l) + WAY * h]);
	if ((data.allPath || (to - from) / data.run < 0.02) && !(levels && many)) {
		for (const e of path)
			if (e.end >= from && e.begin <= to) add(e.begin, e.end, e.location);
	} else if (levels)
		drawLevels();
	else
		for (let c = 0, end; c < data.columns; c = end) {
			const row = data.way[c], column = data.run / data.columns;
			for (end = c + 1; end < data.columns && data.way[end] === row;) end++;
			if (row >= 0 && end * column >= from && c * column <= to)
				add(c * column, end * column, Math.ceil(row * data.locations / data.rows));
		}
	pathLine(stretches, h);
}
// On demand, and no more than can be told apart: the longest.
function drawMessages(h) {
	const seen = messages.filter(m => m.end >= from && m.begin <= to &&
		slots[Math.max(m.location, m.partner)] >= top && slots[Math.min(m.location, m.partner)] <= top + shown);
	ink.strokeStyle = ink.fillStyle = colours.ink;
	ink.globalAlpha = 0.6;
	ink.beginPath();
	for (const m of seen.slice(0, MOST_MESSAGES)) {
		ink.moveTo(x(m.begin), y(m.partner) + h * LANE / 2);
		ink.lineTo(x(m.end), y(m.location) + h * LANE / 2);
		ink.rect(x(m.end) - 1, y(m.location) + h * LANE / 2 - 1, 2, 2);
	}
	ink.stroke();
	ink.globalAlpha = 1;
	return seen.length > MOST_MESSAGES ? `The ${MOST_MESSAGES} longest of ${seen.length} messages. ` :
		`${seen.length} messages${data.allMessages ? "" : ", the longest of the run"}. `;
}
// Ranks of one host have a line at their left, and its name if there is room.
function drawHosts() {
	const begins = data.hostOf || [];
	for (let i = 0; i < begins.length; i += 2) {
		const above = Math.max(0, y(begins[i])), end = begins[i + 2] ?? data.locations;
		const below = Math.min(height() - BOTTOM, y(end)), name = data.hosts[begins[i + 1]] || "";
		if (below - above < 4) continue;
		ink.fillRect(18, above + 1, 2, below - above - 2);
		if (below - above < 24) continue;
		ink.save();
		ink.translate(13, (above + below) / 2);
		ink.rotate(-Math.PI / 2);
		ink.textAlign = "center";
		ink.fillText(name, 0, 0, below - above - 4);
		ink.restore();
	}
}
// Threads of a rank are counted from 1, as they are below it.
const laneName = lane => lane.thread ? "+" + (lanes.indexOf(lane) - slots[lane.location]) : rankOf(lane.location);
function drawAxes(h) {
	ink.fillStyle = colours.paper;
	ink.fillRect(0, 0, LEFT, height());
	ink.fillRect(0, height() - BOTTOM, width(), BOTTOM);
	ink.fillStyle = colours.ink;
	drawHosts();
	const each = roundStep(Math.max(1, 13 / h));
	ink.textAlign = "right";
	for (let i = Math.ceil(top / each) * each; i < Math.min(lanes.length, top + shown); i += each)
		ink.fillText(laneName(lanes[i]), LEFT - 6, (i - top) * h + Math.max(h * LANE / 2, 5) + 4, LEFT - 24);
	const [size, unit] = unitOf(to), label = (ns, step) =>
		(ns / size).toFixed(Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-6))) + " " + unit;
	let step = 0, room = 0;
	do {		// a closer step has longer labels
		step = roundStep(Math.max(step * 1.5, (to - from) / 8));
		room = ink.measureText(label(to, step)).width + 16;
	} while (x(from + step) - LEFT < room && step < to - from);
	ink.textAlign = "center";
	ink.strokeStyle = colours.grid;
	for (let i = Math.ceil(from / step); i * step <= to; i++) {
		ink.beginPath();
		ink.moveTo(x(i * step), height() - BOTTOM);
		ink.lineTo(x(i * step), height() - BOTTOM + 5);
		ink.stroke();
		ink.fillText(label(i * step, step), Math.min(x(i * step), width() - room / 2 + 8), height() - 8);
	}
	ink.textAlign = "left";
}
function drawChosen(h) {
	const marked = chosen ? [chosen, ...chain] : [];
	ink.strokeStyle = colours.ink;
	ink.lineWidth = 2;
	marked.forEach((e, i) => {
		ink.strokeRect(Math.max(LEFT, x(e.begin)), y(e.location) + 1, Math.max(2, x(e.end) - Math.max(LEFT, x(e.begin))), h * LANE - 2);
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
function drawNamedHits(h) {
	ink.strokeStyle = colours.ink;
	for (const e of namedHits)
		if (e.end >= from && e.begin <= to && laneOf(e) >= top - 1 && laneOf(e) < top + shown)
			ink.strokeRect(Math.max(LEFT, x(e.begin)), (laneOf(e) - top) * h, Math.max(2, x(e.end) - Math.max(LEFT, x(e.begin))), h * LANE);
}
// What a cell is where several activities share it.
function grain() {
	const ranks = Math.ceil(data.locations / data.rows);
	return `Coloured by cells of ${timeText(Math.round(data.run / data.columns))}${ranks > 1 ? ` and ${ranks} ranks` : ""}: ` +
		"what takes longest there, or a wait if waits take a quarter. Zoom in for single calls.";
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
		const single = data.all && h >= 2;
		if (!single) drawBins();
		if (h >= 2) drawEvents(h);
		drawNamedHits(h);
		drawPath(h);
		get("grain").textContent = (showMessages ? drawMessages(h) : "") + (single ? "" : grain());
		drawChosen(h);
		drawAxes(h);
		canvas.dataset.from = from;
		canvas.dataset.to = to;
		canvas.dataset.top = top;
		canvas.dataset.shown = shown;
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
function lookRanks(first, count) {
	shown = Math.min(lanes.length, Math.max(4, count));
	top = Math.min(Math.max(0, first), lanes.length - shown);
	draw();
}
function zoomRanks(factor, at = top + shown / 2) {
	lookRanks(at - (at - top) * factor, shown * factor);
}
const laneOf = e => e.thread ? lanes.findIndex(lane => lane.thread === e.thread) : slots[e.location];
function reveal(e) {
	if (e.thread && laneOf(e) < 0) turnThreads();
	const length = Math.max(1, e.end - e.begin);
	look(e.begin - length, e.end + length);
	if (laneOf(e) < top || laneOf(e) + 1 > top + shown) lookRanks(laneOf(e) - shown / 2, shown);
}
// Half of a window of usual size is left to what stands above and below.
function fitRows() {
	canvas.style.height = Math.max(120, Math.min(lanes.length * 34, Math.max(240, innerHeight / 2))) + BOTTOM + "px";
	draw();
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
	const rank = (e.thread ? "a thread of rank " : "rank ") + rankOf(e.location), length = timeText(e.end - e.begin), begin = " at " + timeText(e.begin);
	if (e.what === CELL)
		return rank + " from " + timeText(e.begin) + " to " + timeText(e.end) + ": mostly " + data.activities[e.site] +
			inside(e.thread ? e.thread.row : rowOf(e.location), e.begin, e.end - 1);
	if (e.what === NAMED) return rank + " was in " + e.name + " from " + timeText(e.begin) + " to " + timeText(e.end);
	if (e.what === COMPUTATION) return rank + " computed for " + length + begin + ", before " + place(e) +
		inside(rowOf(e.location), e.under ?? e.begin, e.under ?? e.end);
	if (e.what === BLOCKED || e.what === PREEMPTED)
		return rank + " was " + (e.what === BLOCKED ? "blocked for " : "preempted for ") + length + begin + ", in " + place(e);
	if (e.what === CALL) return rank + " was in " + (data.calls[e.call] || "a call") + " for " + length + begin + ", in " + place(e);
	return rank + " waited " + length + (e.partner >= 0 ? " for rank " + e.partner : "") + begin + ", " + data.states[e.what] +
		", in " + place(e);
}
const HELP = "A click tells what a rank did there and for whom it waited; two fingers zoom.";
const KEYS = " Keys: w s (ctrl and wheel) zoom, " +
	"a d and arrows move, W S (ctrl, shift and wheel) zoom to fewer ranks, 0 shows all, m draws messages, / searches, " +
	(NAMINGS.length ? "c colours by function or region, " : "") + (threads.length ? "u unfolds threads, " : "") +
	"Enter goes to the next hit, t changes light.";
function choose(e) {
	const box = get("what");
	chosen = e;
	chain = e && isWait(e) ? chainOf(e) : [];
	box.replaceChildren();
	if (!e) box.append(HELP + (innerWidth < 600 ? "" : KEYS));
	else {
		const list = document.createElement("ol");
		for (const link of [e, ...chain]) {
			const item = document.createElement("li"), go = document.createElement("button");
			go.textContent = "show";
			go.addEventListener("click", () => reveal(link));
			item.append(sentence(link) + " ", go);
			list.append(item);
		}
		box.append(isWait(e) && chain.length ? "The wait, and the waits that led to it:" : "", list);
	}
	draw();
}
function at(px, py) {
	const lane = lanes[Math.floor(top + py / rowHeight())], ns = from + (px - LEFT) / (width() - LEFT) * (to - from);
	const slack = (to - from) / width() * 2;
	const order = e => isWait(e) ? 0 : e.what;	// a wait, a call, computation
	let best = null;
	if (!lane || px < LEFT) return null;
	const l = lane.location, column = columnAt(ns);
	const cell = { location: l, begin: column * data.run / data.columns, what: CELL, partner: -1,
		end: (column + 1) * data.run / data.columns, call: 0 };
	if (lane.thread) return { ...cell, thread: lane.thread, site: lane.thread.cells[column] };
	for (let i = firstBehind(events[l], ns - longest[l] - slack); i < events[l].length && events[l][i].begin <= ns + slack; i++) {
		const e = events[l][i];
		if (e.end + slack < ns) continue;
		const longer = best && order(e) === order(best) && e.end - e.begin > best.end - best.begin;
		if (!best || order(e) < order(best) || longer) best = e;
	}
	return best || data.all ? best : { ...cell, site: bins[rowOf(l)][column] };
}

// ---- mouse and keys -------------------------------------------------------------------------
let drag = null, pinch = null;
const fingers = new Map();
// Two fingers keep what is under them: instants if they are side by side, else ranks.
function beginPinch() {
	const [a, b] = [...fingers.values()], beside = Math.abs(a.x - b.x) >= Math.abs(a.y - b.y);
	const under = f => beside ? from + (f.x - LEFT) / (width() - LEFT) * (to - from) : top + f.y / rowHeight();
	return { beside, kept: [under(a), under(b)] };
}
function movePinch() {
	const [a, b] = [...fingers.values()], [first, second] = pinch.kept;
	const each = (second - first) / (pinch.beside ? b.x - a.x : b.y - a.y);		// of a pixel
	if (!(each > 0 && each < Infinity)) return;		// the fingers have met
	const begin = first - each * (pinch.beside ? a.x - LEFT : a.y);
	if (pinch.beside) look(begin, begin + each * (width() - LEFT));
	else lookRanks(begin, each * (height() - BOTTOM));
}
canvas.addEventListener("pointerdown", e => {
	fingers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
	drag = fingers.size === 1 ? { x: e.offsetX, y: e.offsetY, from, to, top, moved: false } : null;
	pinch = fingers.size === 2 ? beginPinch() : null;
	canvas.setPointerCapture(e.pointerId);
});
canvas.addEventListener("pointermove", e => {
	if (fingers.has(e.pointerId)) fingers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
	if (pinch) {
		movePinch();
		return;
	}
	if (drag) {
		const by = (e.offsetX - drag.x) / (width() - LEFT) * (drag.to - drag.from);
		drag.moved = drag.moved || Math.hypot(e.offsetX - drag.x, e.offsetY - drag.y) > 3;
		if (drag.moved) look(drag.from - by, drag.to - by);
		if (drag.moved) lookRanks(drag.top - (e.offsetY - drag.y) / rowHeight(), shown);
		return;
	}
	const over = at(e.offsetX, e.offsetY);
	canvas.title = over ? sentence({ ...over, under: from + (e.offsetX - LEFT) / (width() - LEFT) * (to - from) }) : "";
});
function lift(e) {
	fingers.delete(e.pointerId);
	drag = pinch = null;
}
canvas.addEventListener("pointerup", e => {
	if (drag && !drag.moved) choose(at(e.offsetX, e.offsetY));
	lift(e);
});
canvas.addEventListener("pointercancel", lift);
// Or the browser takes two fingers for scrolling.
canvas.addEventListener("touchstart", e => { if (e.touches.length > 1) e.preventDefault(); }, { passive: false });
canvas.addEventListener("wheel", e => {	// without ctrl it scrolls the page
	if (!e.ctrlKey) return;
	e.preventDefault();
	const factor = (e.deltaY || e.deltaX) > 0 ? 1.25 : 0.8;
	if (e.shiftKey) zoomRanks(factor, top + e.offsetY / rowHeight());
	else zoom(factor, from + (e.offsetX - LEFT) / (width() - LEFT) * (to - from));
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
function turnMessages() {
	showMessages = !showMessages && messages.length > 0;
	get("messages").setAttribute("aria-pressed", showMessages);
	draw();
}
// Colours by activity, by function, by region, and again.
const legend = get("legend"), activityKey = [...legend.children];
function turnColours() {
	colouredBy = NAMINGS[NAMINGS.indexOf(colouredBy) + 1] || null;
	picture = null;
	get("colours").textContent = "colours: " + (colouredBy || "activities");
	legend.replaceChildren(...(colouredBy ? data[colouredBy].names.slice(0, NAME_COLOURS.length + 1) : []).map((name, n) => {
		const item = document.createElement("li"), box = activityKey[0].querySelector("svg").cloneNode(true);
		box.firstElementChild.style.fill = nameColour(n);
		item.append(box, " " + (n < NAME_COLOURS.length ? name : "others"));
		return item;
	}), ...(colouredBy ? activityKey.filter(item => item.querySelector(".a1, .a8, .a9, .way")) : activityKey));
	draw();
}
function turnThreads() {
	const open = lanes.length === data.locations && threads.length > 0;
	fold(open);
	get("threads").setAttribute("aria-pressed", open);
	lookRanks(0, lanes.length);
	fitRows();
}
const move = share => () => look(from + share * (to - from), to + share * (to - from));
const moveRanks = share => () => lookRanks(top + share * shown, shown);
const whole = () => { lookRanks(0, lanes.length); look(0, data.run); };
const keys = {
	w: () => zoom(0.7), s: () => zoom(1 / 0.7), W: () => zoomRanks(0.7), S: () => zoomRanks(1 / 0.7),
	a: move(-0.2), d: move(0.2), ArrowLeft: move(-0.2), ArrowRight: move(0.2),
	ArrowUp: moveRanks(-0.2), ArrowDown: moveRanks(0.2),
	0: whole, t: turn, m: turnMessages, c: turnColours, u: turnThreads, "/": () => get("search").focus(), Escape: () => choose(null),
};
document.addEventListener("keydown", e => {
	if (e.ctrlKey || e.altKey || e.metaKey) return;
	if (e.target.tagName === "INPUT") {
		if (e.key === "Escape") e.target.blur();
		if (e.key === "Enter") nextHit(e.shiftKey ? -1 : 1);
		return;
	}
	if (/Up|Down/.test(e.key) && shown === lanes.length) return;	// scrolls the page
	if (keys[e.key]) {
		keys[e.key]();
		e.preventDefault();
	}
});
get("zoom-in").addEventListener("click", keys.w);
get("zoom-out").addEventListener("click", keys.s);
get("fewer").addEventListener("click", keys.W);
get("more").addEventListener("click", keys.S);
get("whole").addEventListener("click", whole);
get("messages").addEventListener("click", turnMessages);
get("theme").addEventListener("click", turn);
get("colours").addEventListener("click", turnColours);
get("threads").addEventListener("click", turnThreads);
get("colours").hidden = NAMINGS.length === 0;
get("threads").hidden = threads.length === 0;
get("fewer").hidden = get("more").hidden = data.locations <= 8;
get("messages").hidden = messages.length === 0;

// ---- search and tables ----------------------------------------------------------------------
// All words are in what an event is called; each kind, call and site is looked at once.
let hits = [], hit = -1, listed = "";
const keyOf = e => (e.what * 65536 + e.call) * 8192 + e.site;
function textOf(e) {
	const what = e.what === COMPUTATION ? "computation before" : e.what === CALL ? "call" :
		e.what === BLOCKED ? "blocked in" : e.what === PREEMPTED ? "preempted in" :
		data.states[e.what] + " " + data.activities[data.stateActivity[e.what]];
	return (what + " " + (data.calls[e.call] || "") + " " + place(e)).toLowerCase();
}
// Stretches in functions or regions with such names.
function namedStretches(by, matches) {
	const places = data[by].places, all = [], are = [false];
	for (let i = 0; i < places.length; i += 2) are.push(matches((by === "regions" ? "region " : "function ") + places[i].toLowerCase()));
	if (!are.includes(true)) return all;
	data[by].rows.forEach((cells, r) => {
		const thread = threads.find(one => one.row === r), location = thread ? thread.location : Math.ceil(r * data.locations / data.rows);
		const activity = thread ? thread.cells : bins[r], is = c => are[cells[c]] && (by === "regions" || activity[c] === 1);
		if (cells.length) stretches(0, data.run, (a, b) => is(a) === is(b) && (!is(a) || nameOf(by, cells[a]) === nameOf(by, cells[b])),
			(begin, end, c) => is(c) && all.push({ location, thread, begin, end, what: NAMED, partner: -1, call: 0, site: 0,
				name: places[2 * cells[c] - 2] }));
	});
	return all;
}
get("search").addEventListener("input", () => {
	const words = get("search").value.toLowerCase().split(/\s+/).filter(word => word), known = new Map();
	const matches = text => words.length > 0 && words.every(word => text.includes(word));
	const test = e => {
		const key = keyOf(e);
		if (!known.has(key)) known.set(key, matches(textOf(e)));
		return known.get(key);
	};
	const rows = [...document.querySelectorAll("tbody tr")].filter(row => {
		const is = matches(row.textContent.toLowerCase());
		row.classList.toggle("found", is);
		return is;
	});
	found = words.length ? test : null;
	namedHits = words.length ? NAMINGS.flatMap(by => namedStretches(by, matches)) : [];
	hits = found ? events.flat().filter(test).concat(namedHits).sort((a, b) => a.begin - b.begin || a.location - b.location) : [];
	listed = words.length ? hits.length + " on the timeline, " + rows.length + " lines of tables" : "";
	hits.push(...rows);
	hit = -1;
	get("count").textContent = listed;
	draw();
});
function nextHit(by) {
	if (hits.length === 0) return;
	hit = hit < 0 && by < 0 ? hits.length - 1 : (hit + by + hits.length) % hits.length;
	const at = hits[hit];
	get("count").textContent = hit + 1 + " of " + listed;
	if (at instanceof Element) {
		at.scrollIntoView({ block: "center" });
		return;
	}
	choose(at);
	reveal(at);
	canvas.scrollIntoView({ block: "nearest" });
}
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
		const location = locationOf(+line.dataset.rank);
		reveal({ location, begin, end });
		choose(events[location].find(e => isWait(e) && e.begin === begin) || null);
		get("time").scrollIntoView();
	});
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });
addEventListener("resize", fitRows);
readColours();
choose(null);
fitRows();
root.dataset.ready = "yes";
})();
