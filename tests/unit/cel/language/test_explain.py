"""Whoever mistypes a selector is told where, what, and what was meant."""

import subprocess
import sys

import pytest

from function import cel

MISTAKES = {
    'devices.driver == "a"': (0, "undeclared", "device"),
    'device.drivr == "a"': (7, "drivr", "driver"),
    'device.driver = "a"': (14, "equality is ==", None),
    'device.driver == "a" and true': (21, "not expected", "&&"),
    "device.driver == gpu.nvidia.com": (17, "undeclared", '"gpu.nvidia.com"'),
    'device.capacity["d"] >= quantity("1Gi")': (15, "all that", 'device.capacity["d"].name'),
    'device.capacity.memory.compareTo(quantity("1Gi")) > 0': (16, "a domain", 'device.capacity["domain"].memory'),
    'device.capacity["d"].memory.compareTo("80Gi") > 0': (28, "takes (quantity)", 'compareTo(quantity("80Gi"))'),
    'device.attributes["d"].exists(x)': (23, "2 or 3 arguments", None),
    'device.attributes["d"].all(x, y == x)': (30, 'undeclared reference "y"', None),
    "optional.none(1) == optional.none()": (9, "takes ()", None),
    "!-device.driver": (2, "not expected", None),
    "device.driver ==": (16, "ends too early", None),
    'device.driver.startWith("a")': (14, "startWith", "startsWith"),
    'device.capacity["a"].memory >= quantity("1Gi")': (28, "compareTo", None),
    'device.capacity["a"].memory == "1Gi"': (28, "cannot be compared with a string", 'quantity("1Gi")'),
    'device.driver.matches("[")': (22, "regular expression", None),
    'format.dns1123label().validate("x").hasValue()': (7, '"format.dns1123label"', "format.dns1123Label()"),
    'ip("10.0.0.1") == "10.0.0.1"': (15, "an ip cannot be compared with a string", 'ip("10.0.0.1")'),
    'isIp("10.0.0.1")': (0, "isIp", "isIP()"),
    "device.driver.family() == 4": (14, "a method of an ip, not of a string", None),
    '"\\q" == "q"': (0, "escape", None),
}


@pytest.mark.parametrize(("text", "want"), MISTAKES.items(), ids=list(MISTAKES))
def test_a_mistake_is_told_with_its_place_and_what_was_meant(text, want):
    with pytest.raises(cel.InvalidSelector) as caught:
        cel.compiled(text)
    position, said, meant = want
    assert caught.value.place.position == position
    assert said in caught.value.problem
    assert meant is None or meant in (caught.value.suggestion or "")


def test_the_place_is_a_line_and_a_column_of_the_users_own_text():
    with pytest.raises(cel.InvalidSelector) as caught:
        cel.compiled('device.driver == "a"\n  && é.x')
    assert (caught.value.place.line, caught.value.place.column) == (2, 6)


def test_compiling_leaves_the_interpreter_alone():
    code = "import sys; before = sys.getrecursionlimit(); from function import cel; cel.compiled('true'); "
    code += "print(sys.getrecursionlimit() == before)"
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert got.split() == ["True"]


def test_nothing_is_kept_of_an_evaluation_that_changed_an_amount():
    """In Kubernetes a sum in the decimal form changes the amount that it starts from."""
    device = cel.Device("d", capacity=(("memory", "1.5Gi"),))
    adds = cel.compiled('device.capacity["d"].memory.add(quantity("1Gi")).compareTo(quantity("2.5Gi")) == 0')
    reads = cel.compiled('device.capacity["d"].memory.compareTo(quantity("1.5Gi")) == 0')
    got = [selector.evaluate(device) for selector in (adds, reads, adds, reads)]
    assert got == [cel.MATCH] * 4


def test_a_selector_that_could_cost_too_much_is_refused_at_the_door():
    costly = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    text = "true"
    for name in "abcdefg":
        text = f"{costly}.all({name}, {text})"
    with pytest.raises(cel.InvalidSelector, match="cost"):
        cel.admitted(text)
    assert isinstance(cel.compiled(text).evaluate(cel.Device("d")), cel.EvaluationError)


def test_rules_and_queries_are_the_same_language_over_plain_data():
    named = {"members": [{"nodeSelector": {}}]}
    scaled = {"spec": {"replicas": 2}, "status": {"ready": 2}}
    available = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    got = [
        cel.rule("self.members.all(m, has(m.nodeSelector))").evaluate(self=named, oldSelf=None),
        cel.rule("size(self) == size(oldSelf)").evaluate(self=[1], oldSelf=[1, 2]),
        cel.rule("self.matches('^a')").evaluate(self="abc", oldSelf=None),
        cel.query("has(object.status.ready) && object.status.ready == object.spec.replicas").evaluate(object=scaled),
        cel.query("object.status.conditions.exists(c, c.status == 'True')").evaluate(object=available),
    ]
    assert got == [True, False, True, True, True]
    with pytest.raises(cel.EvaluationFailed):
        cel.query("object.status.ready").evaluate(object={})
