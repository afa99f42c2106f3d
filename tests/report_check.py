#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/report_check.py PAGE IMBALANCE.json CRITPATH.json - opens a page of lp-report in a browser

Looks for errors, compares the numbers with those of lp-imbalance and lp-critpath, then zooms, clicks,
sorts, searches, turns the light off and prints. PAGE alone: errors and the time to the first view only.
"""
import base64
import json
import os
import sys
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--window-size=1400,1000", "--disable-dev-shm-usage"]


def browser(profile, width=1400, script=True):
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
    states = {row[5]: row for row in values(driver, "#t-states tbody tr")}
    for state in imbalance["wait_states"]:
        if state["wait_s"] > 0:
            near(states[state["name"]][1], state["wait_s"], state["name"])
            assert int(states[state["name"]][2]) == state["count"]
    ranks = {int(row[6]): row for row in values(driver, "#t-ranks tbody tr")}
    for rank in imbalance["by_rank"]:
        near(ranks[rank["rank"]][0], rank["wait_s"], f"waits of rank {rank['rank']}")
    for rank in critpath["by_rank"]:
        path = rank["compute_s"] + rank["mpi_s"] + rank["transfer_s"]
        if rank["rank"] in ranks:
            assert abs(float(ranks[rank["rank"]][5]) - path) < 5e-9, f"path of rank {rank['rank']}"
    for shown, delay in zip(values(driver, "#t-delays tbody tr"), imbalance["delays"]):
        near(shown[0], delay["cost_s"], "a delay")
        assert int(shown[3]) == delay["rank"] and shown[5] == delay["where"], shown
    gains = {row[3]: row for row in values(driver, "#t-gains tbody tr")}
    for gain in critpath.get("gain_by_site", []):
        near(gains[gain["where"]][0], gain["gain_s"], "a gain")


def drawn(driver):
    """Several colours are on the canvas."""
    time.sleep(0.3)
    return driver.execute_script("""
        const c = document.getElementById("live"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        const seen = new Set();
        for (let i = 0; i < d.length; i += 4 * 97) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
        return seen.size;""")


def view(driver):
    time.sleep(0.2)
    canvas = driver.find_element(By.ID, "live")
    return float(canvas.get_attribute("data-from")), float(canvas.get_attribute("data-to"))


def check_timeline(driver):
    canvas, body = driver.find_element(By.ID, "live"), driver.find_element(By.TAG_NAME, "body")
    assert drawn(driver) >= 4
    whole = view(driver)
    body.send_keys("ww")
    near_view = view(driver)
    assert near_view[1] - near_view[0] < 0.6 * (whole[1] - whole[0]), "w does not zoom in"
    body.send_keys("d")
    assert view(driver)[0] > near_view[0], "d does not move"
    driver.find_element(By.ID, "zoom-out").click()
    body.send_keys("0")
    assert view(driver) == whole, "0 does not show the whole run"
    waits = driver.find_elements(By.CLASS_NAME, "chain")
    if waits:
        waits[0].click()
        time.sleep(0.3)
        said = driver.find_element(By.ID, "what").text
        assert "waited" in said and "for rank" in said, said
        body.send_keys(Keys.ESCAPE)
        assert "Nothing" in driver.find_element(By.ID, "what").text
        # The wait lies in the middle of the view now: a click on it chooses it.
        rank = int(waits[0].get_attribute("data-rank"))
        rows = driver.execute_script("return JSON.parse(document.getElementById('data').textContent).locations")
        height = canvas.size["height"] - 26
        y = (rank + 0.5) / rows * height - canvas.size["height"] / 2
        ActionChains(driver).move_to_element_with_offset(canvas, 28, int(y)).click().perform()
        time.sleep(0.3)
        assert "rank %d waited" % rank in driver.find_element(By.ID, "what").text
    body.send_keys("0")


def check_tables(driver):
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
    page, tools = sys.argv[1], [json.load(open(name)) for name in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as profile:
        driver = browser(profile)
        try:
            driver.get("about:blank")
            driver.get("file://" + os.path.abspath(page))
            assert driver.execute_script("return document.documentElement.dataset.ready") == "yes"
            assert drawn(driver) >= 2
            took = int(driver.find_element(By.ID, "live").get_attribute("data-drawn")) / 1000
            if tools:
                check_numbers(driver, *tools)
                check_timeline(driver)
                check_tables(driver)
                check_rest(driver)
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
