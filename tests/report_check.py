#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/report_check.py PAGE IMBALANCE.json CRITPATH.json - opens a page of lp-report in a browser

Looks for errors, compares the numbers with lp-imbalance and lp-critpath, then zooms, clicks, sorts, searches, switches
to dark colours, prints, and uses a window of 400 pixels. PAGE alone: only errors and the time to the first view; PAGE
many: zooms to a few of its many ranks, and back; PAGE named: colours by function and region, unfolds threads.
"""
import base64
import json
import math
import os
import re
import sys
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--window-size=1400,1000", "--disable-dev-shm-usage"]


def browser(profile, script=True):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in FLAGS + ["--user-data-dir=" + profile]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    if not script:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    service = webdriver.chrome.service.Service("/usr/bin/chromedriver")
    return webdriver.Chrome(service=service, options=options)


def requests(driver):
    """What the page asked for, itself aside."""
    asked = set()
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if not url.startswith(("file:", "data:", "about:", "chrome")):
                asked.add(url)
    return asked


# What the canvas has said since it was drawn last: each drawing begins by taking its size.
LISTEN = """
    const say = CanvasRenderingContext2D.prototype.fillText, clear = CanvasRenderingContext2D.prototype.setTransform;
    const fill = CanvasRenderingContext2D.prototype.fillRect;
    window.said = [];
    CanvasRenderingContext2D.prototype.fillRect = function (x, y, width, height) {
        for (const [text, left, low] of window.said)
            if (text.startsWith("MPI_") && x <= left + 4 && x + width > left + 4 && y <= low - 4 && y + height > low - 4)
                window.covered = text;
        return fill.call(this, x, y, width, height);
    };
    CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
        window.said.push([String(text), ...at.slice(0, 2)]);
        return say.call(this, text, ...at);
    };
    CanvasRenderingContext2D.prototype.setTransform = function (...of) {
        window.said = [];
        return clear.apply(this, of);
    };"""


def near(shown, exact, what):
    assert abs(float(shown) - exact) < 1.5e-9, f"{what}: the page says {shown}, the tool {exact}"


def values(driver, selector):
    return driver.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map(r => [...r.cells].map(c => c.dataset.v ?? c.textContent))",
        selector)


def check_numbers(driver, imbalance, critpath):
    near(driver.find_element(By.ID, "run_time_s").get_attribute("data-v"), critpath["run_time_s"], "run time")
    for key in ("parallel", "load_balance", "communication"):
        if imbalance["efficiency"][key] is not None:
            near(driver.find_element(By.ID, key).get_attribute("data-v"), imbalance["efficiency"][key], key)
    # What is less than 0.005 % of the run is in no table, and of no table the first column is anything but sorted.
    least, all_s = 5e-5 * critpath["run_time_s"], critpath["run_time_s"] * len(critpath["by_rank"])
    states = {row[5]: row for row in values(driver, "#t-states tbody tr")}
    for state in imbalance["wait_states"]:
        assert (state["name"] in states) == (state["wait_s"] >= 5e-5 * all_s), state["name"]
        if state["name"] in states:
            near(states[state["name"]][1], state["wait_s"], state["name"])
            assert int(states[state["name"]][2]) == state["count"]
    ranks = {int(row[6]): row for row in values(driver, "#t-ranks tbody tr")}
    for rank in imbalance["by_rank"]:
        near(ranks[rank["rank"]][1], rank["wait_s"], f"waits of rank {rank['rank']}")
    for rank in critpath["by_rank"]:
        path = rank["compute_s"] + rank["mpi_s"] + rank["transfer_s"]
        if rank["rank"] in ranks:
            assert abs(float(ranks[rank["rank"]][0]) - path) < 5e-9, f"path of rank {rank['rank']}"
    for shown, delay in zip(values(driver, "#t-delays tbody tr"), imbalance["delays"]):
        near(shown[0], delay["cost_s"], "a delay")
        assert int(shown[3]) == delay["rank"] and shown[5] == delay["where"], shown
    gains = {row[3]: row for row in values(driver, "#t-gains tbody tr")}
    for gain in critpath["gain_by_site"]:
        assert gain["where"] in gains or abs(gain["gain_s"]) < least, gain
        if gain["where"] in gains:
            near(gains[gain["where"]][0], gain["gain_s"], "a gain")
    for table in driver.find_elements(By.TAG_NAME, "table"):
        name = table.get_attribute("id")
        column = [float(row[0]) for row in values(driver, f"#{name} tbody tr")]
        assert column and column == sorted(column, reverse=True), f"{name} is not sorted"
        assert "descending" in [head.get_attribute("aria-sort") for head in table.find_elements(By.TAG_NAME, "th")][:1]
    for row in driver.execute_script("return [...document.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent))"):
        assert any(float(cell) > 0 for cell in row if re.fullmatch(r"\d+\.\d+", cell)), row
    for share in ("parallel", "load_balance", "communication", "wait_share", "path_compute", "path_mpi", "path_transfer"):
        fact = driver.find_element(By.ID, share)
        assert re.fullmatch(r"\d+\.\d %", fact.text), fact.text
        assert abs(float(fact.text[:-2]) - 100 * float(fact.get_attribute("data-v"))) < 0.051, fact.text


def drawn(driver):
    """Several colours are on the canvas."""
    time.sleep(0.3)
    return driver.execute_script("""
        const c = document.getElementById("live"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        const seen = new Set();
        for (let i = 0; i < d.length; i += 4 * 97) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
        return seen.size;""")


def coloured(driver):
    """The share of the canvas that is no grey."""
    return driver.execute_script("""
        const c = document.getElementById("live"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        let count = 0;
        for (let i = 0; i < d.length; i += 4 * 97)
            count += Math.max(d[i], d[i + 1], d[i + 2]) - Math.min(d[i], d[i + 1], d[i + 2]) > 20;
        return count * 4 * 97 / d.length;""")


def view(driver):
    time.sleep(0.2)
    canvas = driver.find_element(By.ID, "live")
    return float(canvas.get_attribute("data-from")), float(canvas.get_attribute("data-to"))


def check_first_screen(driver, width):
    """The sentence, how far it can be trusted, the timeline and what comes next are seen at once; nothing sticks out."""
    boxes = [driver.execute_script("const b = document.querySelector(arguments[0]).getBoundingClientRect(); return [b.top, b.bottom]",
                                   name) for name in ("#verdict", "#trust", "#live", "#next")]
    assert all(a[1] <= b[0] + 1 for a, b in zip(boxes, boxes[1:])), boxes
    assert width < 1000 or boxes[-1][1] < driver.execute_script("return innerHeight"), boxes
    assert driver.execute_script("return document.scrollingElement.scrollWidth <= innerWidth"), "the page is too wide"
    for size in driver.execute_script("""return [...document.querySelectorAll(".pictures section:not(.wide) svg")].map(s =>
            12 * s.getBoundingClientRect().width / s.viewBox.baseVal.width)"""):
        assert size > 8, f"print of {size} pixels"
    for size in driver.execute_script("""return [...document.querySelectorAll(".pictures svg")].map(s =>
            12 * s.getBoundingClientRect().width / s.viewBox.baseVal.width)"""):
        assert size < 30, f"print of {size} pixels"
    hidden = driver.execute_script('''return [...document.querySelectorAll(".scroll")].filter(box => {
        const names = box.querySelectorAll("tbody tr:first-child .t"), in_sight = box.getBoundingClientRect().right;
        return [...names].some(name => name.getBoundingClientRect().left > in_sight - 40); }).map(box => box.firstChild.id)''')
    assert not hidden, f"the names of {hidden} are out of sight"


def check_ticks(driver):
    """Times at the axis are round, of one unit, and do not overlap."""
    high = driver.find_element(By.ID, "live").size["height"]
    ticks = [said for said in driver.execute_script("return said") if said[2] > high - 20]
    assert len(ticks) >= 2, ticks
    assert len({text.split()[1] for text, _, _ in ticks}) == 1, ticks
    times = [float(text.split()[0]) for text, _, _ in ticks]
    step = times[1] - times[0]
    assert re.fullmatch(r"[125]0*", "%g" % float("%.6g" % (step / 10 ** math.floor(math.log10(step) + 1e-9)))), ticks
    assert all(abs(t / step - round(t / step)) < 1e-6 for t in times), ticks
    assert all(b[1] - a[1] > 6 * len(b[0]) for a, b in zip(ticks, ticks[1:])), ticks


def check_events(driver):
    """Computation can be clicked at and searched for, Enter goes from hit to hit, messages are drawn when asked for."""
    canvas, body, box = (driver.find_element(By.ID, "live"), driver.find_element(By.TAG_NAME, "body"),
                         driver.find_element(By.ID, "search"))
    data = json.loads(driver.execute_script("return document.getElementById('data').textContent"))
    calls = len(data["states"])
    rows = [data["computations"][i:i + 7] for i in range(0, len(data["computations"]), 7)]
    box.send_keys("computation before exchange_halos")
    many = re.match(r"(\d+) on the timeline", driver.find_element(By.ID, "count").text)
    sites = [i for i, site in enumerate(data["sites"]) if "exchange_halos" in site]
    assert many and int(many[1]) == sum(row[3] == calls + 3 and row[5] in sites for row in rows) > 5
    told = []
    for hit, key in ((1, Keys.ENTER), (2, Keys.ENTER), (1, Keys.SHIFT + Keys.ENTER), (2, Keys.ENTER)):
        box.send_keys(key)
        assert driver.find_element(By.ID, "count").text.startswith(f"{hit} of {many[1]} on the timeline")
        said = driver.find_element(By.ID, "what").text
        assert "computed for" in said and "exchange_halos" in said, said
        assert hit > len(told) or said == told[hit - 1], said
        told.append(said)
    # The hit is in the middle third: so is a click there.
    driver.execute_script("document.getElementById('search').blur()")
    body.send_keys(Keys.ESCAPE)
    assert "Keys:" in driver.find_element(By.ID, "what").text
    rank = int(re.match(r"rank (\d+)", said)[1])
    y = (rank + 0.4) / data["locations"] * (canvas.size["height"] - 26) - canvas.size["height"] / 2
    driver.execute_script("scrollTo(0, 0)")
    ActionChains(driver).move_to_element_with_offset(canvas, 28, int(y)).click().perform()
    assert "computed for" in driver.find_element(By.ID, "what").text, driver.find_element(By.ID, "what").text
    box.clear()
    box.send_keys(" ", Keys.BACKSPACE, Keys.ESCAPE)
    body.send_keys("0m")
    time.sleep(0.3)
    assert driver.find_element(By.ID, "grain").text == f"{len(data['messages']) // 7} messages."
    assert len(data["messages"]) > 0
    body.send_keys("m")


def check_wheel(driver):
    canvas, origin = driver.find_element(By.ID, "live"), None
    whole = view(driver)
    origin = ScrollOrigin.from_element(canvas)
    ActionChains(driver).scroll_from_origin(origin, 0, 120).perform()
    time.sleep(0.3)
    assert view(driver) == whole and driver.execute_script("return scrollY") > 0, "the wheel does not scroll the page"
    driver.execute_script("scrollTo(0, 0)")
    driver.execute_script("""document.getElementById("live").dispatchEvent(new WheelEvent("wheel",
        { deltaY: -120, ctrlKey: true, bubbles: true, cancelable: true }))""")
    assert view(driver)[1] - view(driver)[0] < 0.9 * (whole[1] - whole[0]), "ctrl and the wheel do not zoom"
    near_view = view(driver)
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_RIGHT)
    assert view(driver)[0] > near_view[0], "the arrow does not move"
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_LEFT)
    assert abs(view(driver)[0] - near_view[0]) < 2
    driver.find_element(By.TAG_NAME, "body").send_keys("0")


def pinch(driver, begins, ends):
    """Two fingers go down at the points BEGINS of the canvas, to ENDS in ten steps, and up."""
    canvas = driver.execute_script("const b = document.getElementById('live').getBoundingClientRect(); return [b.left, b.top]")
    def touch(kind, points):
        driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [
            {"x": canvas[0] + x, "y": canvas[1] + y, "id": i} for i, (x, y) in enumerate(points)]})
    touch("touchStart", begins[:1])
    touch("touchStart", begins)
    for step in range(1, 11):
        touch("touchMove", [tuple(a + (b - a) * step / 10 for a, b in zip(*ways)) for ways in zip(begins, ends)])
    touch("touchEnd", [])
    time.sleep(0.3)


def check_pinch(driver):
    """Two fingers zoom: what was under each stays under it. Side by side instants do, one above the other ranks."""
    canvas = driver.find_element(By.ID, "live")
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    driver.find_element(By.TAG_NAME, "body").send_keys("0", Keys.ESCAPE)
    driver.execute_script("scrollTo(0, 0)")
    wide, begin, end = canvas.size["width"] - 2, *view(driver)      # without its border
    at = lambda x, of: of[0] + (x - 56) / (wide - 56) * (of[1] - of[0])
    a, b, to_a, to_b = wide * 0.4, wide * 0.6, wide * 0.3, wide * 0.8
    pinch(driver, [(a, 60), (b, 70)], [(to_a, 60), (to_b, 70)])
    zoomed = view(driver)
    slack = 3 * (end - begin) / wide
    assert abs(zoomed[1] - zoomed[0] - (end - begin) * 0.2 / 0.5) < slack, zoomed
    assert abs(at(to_a, zoomed) - at(a, (begin, end))) < slack and abs(at(to_b, zoomed) - at(b, (begin, end))) < slack, zoomed
    assert "Keys:" in driver.find_element(By.ID, "what").text, "a pinch is no click"
    pinch(driver, [(to_a, 60), (to_b, 70)], [(a, 60), (b, 70)])
    assert all(abs(x - y) < 2 * slack for x, y in zip(view(driver), (begin, end))), view(driver)
    assert driver.execute_script("return scrollY === 0 && visualViewport.scale === 1"), "the page moved, too"
    driver.find_element(By.TAG_NAME, "body").send_keys("0")
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def check_many(driver):
    """Of many ranks: what a cell of several is, is said; keys and buttons show fewer ranks, down to single calls."""
    canvas, body = driver.find_element(By.ID, "live"), driver.find_element(By.TAG_NAME, "body")
    def shown():
        time.sleep(0.2)
        return float(canvas.get_attribute("data-top")), float(canvas.get_attribute("data-shown"))
    ranks, whole = shown()[1], view(driver)
    assert coloured(driver) > 0.5, "the cells are not drawn"
    grain = driver.find_element(By.ID, "grain")
    assert re.match(r"Coloured by cells of .* ranks: what takes longest there, or a wait if waits take a quarter", grain.text), grain.text
    body.send_keys("W" * 12)
    assert shown()[1] < ranks / 30 and 0 < shown()[0] < ranks, shown()
    assert grain.text == "", grain.text
    assert coloured(driver) > 0.5, "the calls are not drawn"
    top = shown()[0]
    body.send_keys(Keys.ARROW_DOWN)
    assert shown()[0] > top, "the arrow does not move"
    driver.find_element(By.ID, "more").click()
    assert shown()[1] > 4
    labels = [int(text) for text, _, _ in driver.execute_script("return said") if text.isdigit()]
    assert labels and top <= labels[0] <= labels[-1] <= shown()[0] + shown()[1], labels
    body.send_keys("0")
    assert shown() == (0, ranks)
    high = canvas.size["height"] - 28
    pinch(driver, [(300, high * 0.4), (310, high * 0.5)], [(300, high * 0.2), (310, high * 0.8)])
    assert abs(shown()[1] - ranks / 6) < ranks / 50 and abs(shown()[0] + shown()[1] * 0.2 - ranks * 0.4) < ranks / 50, shown()
    assert view(driver) == whole, "a pinch across zooms ranks alone"
    body.send_keys("0")


def check_named(driver):
    """Computation is coloured by function and region, hover and search name them, threads unfold below their rank."""
    canvas, body, box = (driver.find_element(By.ID, "live"), driver.find_element(By.TAG_NAME, "body"),
                         driver.find_element(By.ID, "search"))
    data = json.loads(driver.execute_script("return document.getElementById('data').textContent"))
    legend = lambda: [item.text for item in driver.find_elements(By.CSS_SELECTOR, "#legend li")]
    pixels = lambda: time.sleep(0.2) or driver.execute_script("return document.getElementById('live').toDataURL()")
    activities, plain = legend(), pixels()
    seen = [plain]
    for by in ("functions", "regions"):
        body.send_keys("c")
        assert driver.find_element(By.ID, "colours").text == "colours: " + by
        assert legend()[:3] == data[by]["names"][:3] and "critical path" in legend()[-1], legend()
        seen.append(pixels())
    assert len(set(seen)) == 3, "the colours do not change"
    driver.find_element(By.ID, "colours").click()
    assert legend() == activities and pixels() == plain
    box.send_keys("function f1")
    hits = re.match(r"(\d+) on the timeline", driver.find_element(By.ID, "count").text)
    assert int(hits[1]) > 5, hits
    assert pixels() != plain, "hits are not marked"
    box.clear()
    box.send_keys("region step", Keys.ENTER, Keys.ESCAPE)
    said = driver.find_element(By.ID, "what").text
    assert re.match(r"rank \d was in step from ", said), said
    body.send_keys("0", Keys.ESCAPE, "u")
    time.sleep(0.2)
    threads = len(data["threads"]) // 3
    assert float(canvas.get_attribute("data-shown")) == data["locations"] + threads
    labels = [text for text, left, _ in driver.execute_script("return said") if left == 50]
    assert labels == ["0", "+1", "+2", "1", "2", "+1", "+2", "3"], labels
    ActionChains(driver).move_to_element_with_offset(canvas, 28, int(
        1.4 / 8 * (canvas.size["height"] - 26) - canvas.size["height"] / 2)).perform()
    assert re.match(r"a thread of rank 0 from .*: mostly ", canvas.get_attribute("title")), canvas.get_attribute("title")
    if len(sys.argv) > 3:
        body.send_keys("c")
        pixels()
        driver.save_screenshot(sys.argv[3])
    body.send_keys("u")
    time.sleep(0.2)
    assert float(canvas.get_attribute("data-shown")) == data["locations"]


def check_timeline(driver):
    canvas, body = driver.find_element(By.ID, "live"), driver.find_element(By.TAG_NAME, "body")
    assert drawn(driver) >= 4
    whole = view(driver)
    body.send_keys("ww")
    near_view = view(driver)
    assert near_view[1] - near_view[0] < 0.6 * (whole[1] - whole[0]), "w does not zoom in"
    check_ticks(driver)
    body.send_keys("d")
    assert view(driver)[0] > near_view[0], "d does not move"
    driver.find_element(By.ID, "zoom-out").click()
    body.send_keys("0")
    assert view(driver) == whole, "0 does not show the whole run"
    assert any(text.startswith("MPI_") for text, _, _ in driver.execute_script("return said")), "no call has its name"
    waits = driver.find_elements(By.CLASS_NAME, "chain")
    if waits:
        waits[0].click()
        time.sleep(0.3)
        said = driver.find_element(By.ID, "what").text
        assert "waited" in said and "for rank" in said, said
        body.send_keys(Keys.ESCAPE)
        assert "Keys:" in driver.find_element(By.ID, "what").text
        # The wait lies in the middle of the view now: a click on it chooses it.
        rank = int(waits[0].get_attribute("data-rank"))
        rows = driver.execute_script("return JSON.parse(document.getElementById('data').textContent).locations")
        height = canvas.size["height"] - 26
        y = (rank + 0.4) / rows * height - canvas.size["height"] / 2
        ActionChains(driver).move_to_element_with_offset(canvas, 28, int(y)).click().perform()
        time.sleep(0.3)
        assert "rank %d waited" % rank in driver.find_element(By.ID, "what").text
    body.send_keys("0")


def check_tables(driver):
    hidden = driver.execute_script("""return [...document.querySelectorAll('section:has(table)')].filter(section => {
        const note = section.querySelector('.note').getBoundingClientRect(), room = section.getBoundingClientRect();
        return note.width === 0 || note.right > room.right + 1;
    }).map(section => section.querySelector('h2').textContent)""")
    assert not hidden, f"what these tables show is not to be seen whole: {hidden}"
    head = driver.find_elements(By.CSS_SELECTOR, "#t-sites th button")[2]
    for sign in (-1, 1):
        driver.execute_script("arguments[0].click()", head)
        column = [float(row[2]) for row in values(driver, "#t-sites tbody tr")]
        assert column == sorted(column, key=lambda v: sign * v), "not sorted"
    box = driver.find_element(By.ID, "search")
    driver.find_element(By.TAG_NAME, "body").send_keys("/")
    box.send_keys("init")
    found = driver.find_elements(By.CSS_SELECTOR, "tr.found")
    assert found and all("init" in row.text.lower() for row in found)
    assert "lines" in driver.find_element(By.ID, "count").text
    box.clear()
    box.send_keys(Keys.ESCAPE)


def check_rest(driver):
    paper = "return getComputedStyle(document.body).backgroundColor"
    before = driver.execute_script(paper)
    driver.find_element(By.TAG_NAME, "body").send_keys("t")
    assert driver.execute_script(paper) != before, "t does not change the light"
    pdf = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert pdf[:5] == b"%PDF-" and len(pdf) > 10000
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert driver.find_element(By.ID, "still").is_displayed() and not driver.find_element(By.ID, "live").is_displayed()
    shown = driver.execute_script('''
        const body = document.querySelector("tbody"), rows = [...Array(30)].map(() => body.rows[0].cloneNode(true));
        body.replaceChildren(...rows);
        return rows.filter(row => row.cells[0].offsetHeight).length;''')
    assert shown == 20, f"paper has {shown} lines of a table of 30"
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "screen"})


def without_script(page):
    with tempfile.TemporaryDirectory() as profile:
        driver = browser(profile, script=False)
        try:
            driver.get("file://" + os.path.abspath(page))
            assert driver.find_element(By.ID, "verdict").is_displayed()
            assert driver.find_element(By.ID, "still").is_displayed()
            assert driver.find_element(By.ID, "t-states").is_displayed()
        finally:
            driver.quit()


def main():
    page, many, named = sys.argv[1], sys.argv[2:] == ["many"], sys.argv[2:3] == ["named"]
    tools = [] if many or named else [json.load(open(name)) for name in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as profile:
        driver = browser(profile)
        try:
            driver.get("about:blank")
            driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LISTEN})
            driver.get("file://" + os.path.abspath(page))
            assert driver.execute_script("return document.documentElement.dataset.ready") == "yes"
            assert drawn(driver) >= 2
            took = int(driver.find_element(By.ID, "live").get_attribute("data-drawn")) / 1000
            if many:
                check_many(driver)
            if named:
                check_named(driver)
            if tools:
                check_numbers(driver, *tools)
                check_first_screen(driver, 1400)
                check_timeline(driver)
                check_events(driver)
                check_wheel(driver)
                check_pinch(driver)
                check_tables(driver)
                check_rest(driver)
                for width, height in ((3840, 2160), (400, 900)):
                    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
                    time.sleep(0.5)
                    check_first_screen(driver, width)
                    check_ticks(driver)
            assert driver.execute_script("return window.covered") is None, "the name of a call is hidden"
            assert driver.execute_script("return window.hurt") is None, "a name has become code"
            errors = [entry for entry in driver.get_log("browser")
                      if entry["level"] in ("SEVERE", "WARNING") and "getImageData" not in entry["message"]]
            assert not errors, errors
            assert not requests(driver), "the page asks for something"
        finally:
            driver.quit()
    if tools:
        without_script(page)
    print(f"first view after {took:.2f} s")


main()
