"""The page in a real browser: sliders move the arm, a log plays, nothing is asked of other hosts."""

import time
from dataclasses import replace
from urllib.parse import urlsplit

import numpy as np
import pytest

import armdyn
from armdyn import forward_kinematics
from armdyn.spatial.rotation import from_quaternion
from armdyn.spatial.transform import transform
from armdyn.studio.app import Studio
from armdyn.studio.drawing.camera import first_view
from armdyn.studio.drawing.subject import DrawnArm, open_subject
from armdyn.studio.drawing.verdict import headline
from armdyn.studio.server import address, start_server, stop_server

pytest.importorskip("viser", reason="the studio needs viser")

PATIENCE = 120_000  # [ms]: software rendering on a busy machine


@pytest.fixture(scope="module")
def studio(arm):
    server = start_server(port=0)
    # Reflections and shadows cost ten times the rest without a graphics card.
    server.scene.configure_environment_map(None)
    server.scene.configure_default_lights(cast_shadow=False)
    with Studio(server, arm) as studio:
        yield studio
    stop_server(server)


@pytest.fixture(scope="module")
def asked():
    """Addresses that the page asked for."""
    return []


@pytest.fixture(scope="module")
def visit(studio, browser):
    """`visit(width, height)`: a page of the browser, and the tab of the studio behind it."""

    def visit(width=1100, height=700, resolution=0.25, listen=lambda page: None):
        before = set(studio.tabs)
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(PATIENCE)
        listen(page)
        page.goto(address(studio.server, "127.0.0.1") + f"?fixedDpr={resolution}")
        page.wait_for_selector("#tip-pose" if width > 600 else "text=armdyn studio")
        until(lambda: set(studio.tabs) - before)
        (new,) = set(studio.tabs) - before
        return page, studio.tabs[new]

    return visit


@pytest.fixture(scope="module")
def both(visit, asked):
    """One tab on the page, for all tests: opening it takes seconds."""

    def listen(page):
        page.on("request", lambda request: asked.append(request.url))
        page.on("websocket", lambda socket: asked.append(socket.url))

    page, mine = visit(listen=listen)
    yield page, mine
    page.close()


@pytest.fixture
def tab(both):
    """The browser's side."""
    return both[0]


@pytest.fixture
def mine(both):
    """The studio's side of the same tab."""
    return both[1]


def tip(tab):
    """The numbers of the readout: x y z [mm], roll pitch yaw [deg]."""
    return np.array([float(cell) for cell in tab.locator("#tip-pose td").all_inner_texts() if _is_number(cell)])


def _is_number(text):
    return text.lstrip("-").replace(".", "", 1).isdigit()


def until(condition, seconds=PATIENCE / 1e3):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


def joint_slider(tab, name):
    """The thumb of a joint's slider."""
    row = tab.locator("label", has_text=name).first
    return tab.locator(f"[id='{row.get_attribute('for')}']").get_by_role("slider")


def test_a_slider_moves_the_tip(tab, mine):
    before = tip(tab)
    thumb = joint_slider(tab, mine.state.arm.joint_names[1])

    def moved():  # the panels may still be coming in, and take the focus
        thumb.focus()
        thumb.press("ArrowRight")
        return mine.state.moment.q[1] > 0

    until(moved)
    until(lambda: not np.array_equal(tip(tab), before))

    def follows():  # presses may still be under way; shown to a tenth of a millimetre
        expected = 1e3 * forward_kinematics(mine.state.arm, mine.state.moment.q)[:3, 3]
        return np.abs(tip(tab)[:3] - expected).max() < 0.051

    until(follows)


def pixel(tab, mine, point):
    """Where a point of the scene is on the screen; the camera looks along its z, its y points down."""
    camera, box = mine.client.camera, tab.locator("canvas").first.bounding_box()
    x, y, z = from_quaternion(camera.wxyz).T @ (point - camera.position)
    scale = box["height"] / 2 / np.tan(camera.fov / 2) / z
    return np.array([box["x"] + box["width"] / 2 + scale * x, box["y"] + box["height"] / 2 + scale * y])


def drag(tab, grab, drop):
    tab.mouse.move(*grab)
    time.sleep(0.4)  # what lies under the pointer is looked up when a picture is drawn
    tab.mouse.down()
    for part in np.linspace(0, 1, 8):
        tab.mouse.move(*(grab + part * (drop - grab)))
        time.sleep(0.1)
    tab.mouse.up()
    time.sleep(1)


def test_the_handle_is_dragged_with_the_mouse(tab, mine):
    state = mine.state
    state.rest_at([0.4, 0.9])
    before, size = state.now.tip, 0.25 * mine.scene.room.extent
    until(lambda: np.abs(tip(tab)[:3] - 1e3 * before[:3, 3]).max() < 0.051)
    tab.locator(".mantine-Notification-closeButton").first.click()  # of the browser's word on software rendering
    time.sleep(1)  # the scene follows the readout
    start = before[:3, 3]
    for part in (0.6, 0.5, 0.7):  # the arrow is a few pixels thin: miss it once or twice
        drag(tab, *(pixel(tab, mine, start + x * size * before[:3, 0]) for x in (part, part - 0.6)))
        if (state.now.tip[:3, 3] - start) @ before[:3, 0] < -0.3 * size:
            break
    assert (state.now.tip[:3, 3] - start) @ before[:3, 0] < -0.3 * size
    until(lambda: not mine.handle.dragged)
    # The arrow keeps the tip on its line, to what a hand and the steps of the mouse leave.
    assert abs((state.now.tip[:3, 3] - before[:3, 3]) @ before[:3, 1]) < 0.05 * size


def upload(tab, label, path):
    """Send a file through the button of a name."""
    with tab.expect_file_chooser() as chooser:
        tab.get_by_role("button", name=label).click()
    chooser.value.set_files(path)


def test_a_log_is_loaded_and_plays(tab, mine, log_csv, tmp_path):
    (tmp_path / "swing.csv").write_text(log_csv)
    tab.get_by_role("tab", name="Log", exact=True).click()
    upload(tab, "Load a log", tmp_path / "swing.csv")
    tab.wait_for_selector("text=swing.csv: 800 samples, 4.0 s at 200 Hz")
    assert "torque error of the arm as described" in tab.content()
    tab.get_by_role("button", name="Play").click()
    until(lambda: mine.page.player.time > 0.1)
    assert mine.player.button.icon == "player-pause"
    tab.get_by_role("button", name="Pause").click()
    until(lambda: not mine.page.player.playing)
    assert mine.state.moment.measured is not None


@pytest.mark.parametrize(("kind", "ending"), [("sqlite3", "db3"), pytest.param("mcap", "mcap", marks=pytest.mark.slow)])
def test_a_bag_of_ros_2_is_loaded(tab, mine, log, write_bag, tmp_path, kind, ending):
    names = list(mine.state.arm.joint_names)
    folder = write_bag(tmp_path / "swing", names, log.t, log.q, log.qd, log.tau, kind)
    (bag,) = folder.glob(f"*.{ending}")  # without the metadata beside it, as a browser sends it
    mine.log.about.content = ""
    tab.get_by_role("tab", name="Log", exact=True).click()
    upload(tab, "Load a log", bag)
    tab.wait_for_selector(f"text={bag.name}: 800 samples, 4.0 s at 200 Hz")
    assert "torque error of the arm as described" in mine.log.about.content
    shown = mine.state.now.log
    assert np.abs(shown.q - log.q).max() < 1e-12
    assert np.abs(shown.tau - log.tau).max() < 1e-12


def test_a_broken_log_is_one_sentence_on_the_page(tab, tmp_path):
    (tmp_path / "broken.csv").write_text("t,q1\n0,zero\n")
    tab.get_by_role("tab", name="Log", exact=True).click()
    upload(tab, "Load a log", tmp_path / "broken.csv")
    tab.wait_for_selector("text=That did not work")
    text = tab.locator(".mantine-Notification-description", has_text="broken.csv").first.inner_text()
    assert "\n" not in text.strip()
    assert "Traceback" not in text


def curves(tab, title):
    """Colours of the curves that a plot draws: pixels that are neither grey nor white."""
    plot = tab.locator(".uplot", has_text=title).first
    plot.scroll_into_view_if_needed()
    picture = pixels(plot.locator("canvas").first.screenshot(timeout=PATIENCE))
    colourful = picture[np.ptp(picture, axis=-1) > 0.25]
    return {"blue" if b > r else "orange" for r, _, b in colourful}


def test_controllers_are_compared_and_the_estimate_grows_on_the_page(tab, mine):
    mine.compare.duration.value = 2.0
    tab.get_by_role("tab", name="Control").click()
    tab.get_by_role("button", name="Compare controllers").click()
    tab.wait_for_selector("#comparison")
    rows = tab.locator("#comparison tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows[1:]] == ["PD", "computed torque", "Slotine-Li"]
    until(lambda: mine.page.player.time > 0.3)
    until(lambda: curves(tab, "Load as estimated") == {"blue", "orange"})  # the estimate, and the true load
    mine.page.player.pause()


@pytest.mark.slow
def test_the_criterion_falls_on_the_page(tab, mine):
    def fallen():
        _, best, current = mine.excite.plot._handle.data
        known = current[np.isfinite(current)]
        return np.isfinite(best).any() and len(known) > 1 and known.min() < known[0]

    mine.excite.budget.value = 60.0
    tab.get_by_role("tab", name="Excite").click()
    tab.get_by_role("button", name="Design an exciting motion").click()
    until(lambda: mine.excite.plot._curves and fallen())
    tab.get_by_role("button", name="Cancel").click()
    tab.wait_for_selector("text=Stopped early")
    until(lambda: curves(tab, "Condition number") == {"blue", "orange"})  # the search, and the best so far
    mine.page.player.pause()


def test_files_are_handed_out(tab):
    tab.get_by_role("tab", name="Export").click()
    with tab.expect_download() as download:
        tab.get_by_role("button", name="URDF").click()
    assert download.value.suggested_filename == "planar2.urdf"
    assert "<robot" in download.value.path().read_text()


def pixels(png):
    """A picture (height, width, 3), from 0 to 1."""
    from io import BytesIO

    from matplotlib.image import imread

    return imread(BytesIO(png))[..., :3]


def test_the_picture_is_not_blank(tab):
    picture = pixels(tab.screenshot(timeout=PATIENCE))
    _, width, _ = picture.shape
    scene = picture[:, int(0.4 * width) : int(0.6 * width)]  # between the panels
    colors = np.unique((255 * scene).astype(int).reshape(-1, 3) // 8, axis=0)
    assert len(colors) > 20  # floor, links and shades of them
    assert (scene.std(axis=(0, 1)) > 0.02).all()


def test_nothing_is_asked_of_other_hosts(tab, asked):
    hosts = {urlsplit(url.removeprefix("blob:")).hostname for url in asked if not url.startswith("data:")}
    assert hosts == {"127.0.0.1"}


def test_two_tabs_are_two_arms(tab, mine, visit, arm, studio):
    page, other = visit(resolution=0.1)
    mine.state.rest_at([0.4, 0.2])
    other.state.rest_at([-0.7, 0.9])
    for one, theirs in ((tab, mine), (page, other)):
        expected = 1e3 * forward_kinematics(arm, theirs.state.moment.q)[:3, 3]
        until(lambda one=one, expected=expected: np.abs(tip(one)[:3] - expected).max() < 0.051)
    other.show(open_subject("puma3"))
    page.get_by_role("tab", name="puma3").wait_for()
    assert mine.state.arm is arm
    other.show(DrawnArm(arm))  # or the next tab would go on with the other one
    page.close()
    until(lambda: len(studio.tabs) == 1)


def test_a_tab_that_is_opened_after_one_was_closed_goes_on_there(visit, arm):
    page, first = visit(resolution=0.1)
    first.state.rest_at([0.3, -0.4])
    page.reload()
    page.wait_for_selector("#tip-pose")
    expected = 1e3 * forward_kinematics(arm, [0.3, -0.4])[:3, 3]
    until(lambda: np.abs(tip(page)[:3] - expected).max() < 0.051)
    page.close()


def cut(page):
    """What is wider inside than out, by its text."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.vd, .tq, #tip-pose, #clearance')]
            .filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1)
            .map(e => `${e.innerText.slice(0, 40)}: ${e.scrollWidth} > ${e.clientWidth}`)"""
    )


@pytest.mark.parametrize("width", [1280, 1000, 390])
def test_nothing_is_cut(visit, log, width):
    page, other = visit(width, 844, 0.2)
    other.log.load(log)
    other.identify.job.start()
    other.identify.job.job.join(60)
    page.get_by_role("tab", name="Log", exact=True).click()
    page.wait_for_selector("#verdict")
    page.get_by_text(f"{headline(other.state.now.fit)}.", exact=True).nth(1).wait_for()  # the notice, and the panel
    assert cut(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


BOXES = """() => Object.fromEntries(Object.entries({picture: 'canvas[data-engine]', sheet: '.mantine-Paper-root'})
    .map(([name, found]) => [name, document.querySelector(found).getBoundingClientRect().toJSON()]))"""


@pytest.mark.parametrize("width", [1600, 1000])
def test_panels_shrink_with_the_window(visit, width):
    page, mine = visit(width, 800, 0.2)
    left, right = (page.locator(f"[data-dock-region={side}]").bounding_box() for side in ("left", "right"))
    until(lambda: page.evaluate(BOXES)["picture"]["width"] < width - 500)  # the panels are in
    picture = page.evaluate(BOXES)["picture"]
    assert picture["left"] == pytest.approx(left["x"] + left["width"], abs=1)
    assert picture["right"] == pytest.approx(right["x"], abs=1)
    assert picture["width"] >= 0.37 * width
    assert (left["width"] < 384) == (width < 1280)
    view = first_view(mine.scene.room, mine.state.now.links, picture["width"] / picture["height"])
    until(lambda: np.allclose(mine.client.camera.position, view.position, atol=0.02))  # all of the arm is seen
    page.close()


def test_a_phone_shows_the_arm_above_the_panels(visit):
    page, _ = visit(390, 844, 0.3)
    until(lambda: page.evaluate(BOXES)["picture"]["height"] < 500)
    boxes = page.evaluate(BOXES)
    picture, sheet = boxes["picture"], boxes["sheet"]
    assert picture["bottom"] <= sheet["top"] + 1  # the one does not cover the other
    assert picture["height"] >= 0.45 * 844
    assert picture["width"] == sheet["width"] == 390
    shown = pixels(page.screenshot(timeout=PATIENCE, clip={"x": 0, "y": 0, "width": 390, "height": picture["height"]}))
    middle = shown[len(shown) // 4 :, 100:290]
    assert len(np.unique((255 * middle).astype(int).reshape(-1, 3) // 8, axis=0)) > 20  # the arm and its floor
    page.get_by_text("armdyn studio").first.click()  # folds the panels away
    until(lambda: page.evaluate(BOXES)["picture"]["height"] > 800)
    page.close()


def test_an_arm_under_a_ceiling_is_seen_from_below(browser):
    """The file's world is the floor, 2.5 m below the mount."""
    arm = armdyn.arms.ur10()
    mount = transform(np.diag([1.0, -1.0, -1.0]), (0, 0, 2.5))
    first = replace(arm.joints[0], before=mount @ arm.joints[0].before)
    hung = replace(arm, joints=(first, *arm.joints[1:]), mounting_plane=(0, 0, -1, -2.5))
    server = start_server(port=0)
    try:
        with Studio(server, hung) as studio:
            page = browser.new_page(viewport={"width": 900, "height": 700})
            page.set_default_timeout(PATIENCE)
            page.goto(address(server, "127.0.0.1") + "?fixedDpr=0.25")
            page.wait_for_selector("#tip-pose")
            until(lambda: studio.tabs)
            (mine,) = studio.tabs.values()
            until(lambda: 1.0 < mine.client.camera.position[2] < 2.4)
            box = page.locator("canvas").first.bounding_box()
            for point in (mount[:3, 3], forward_kinematics(hung, mine.state.moment.q)[:3, 3]):
                x, y = pixel(page, mine, point)
                assert box["x"] < x < box["x"] + box["width"]
                assert box["y"] < y < box["y"] + box["height"]
            page.close()
    finally:
        stop_server(server)
