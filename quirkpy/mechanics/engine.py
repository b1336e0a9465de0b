"""`Layout`: a selection prepared for the compiled evaluator; `Engine`: a layout with working
memory, lent by it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy

import numpy as np

from quirkpy.kernels.act.ropes import IS_ROPE
from quirkpy.kernels.base.arrays import (
    BODY1,
    BODY2,
    MODE_COUNT,
    ROW_BODY1,
    ROW_BODY4,
    JointTable,
    Packed,
)
from quirkpy.kernels.base.conditions import (
    DECIDED,
    HOLDS,
    OF_GAP,
    OF_SLIP,
    PIVOT_USED,
    TIME,
    begin_anew,
    new_conditions,
)
from quirkpy.kernels.base.states import (
    StateLayout,
    as_many,
    bodies_of,
    with_ledger,
    zero_vectors,
)
from quirkpy.kernels.place.kinematics import ground_frames
from quirkpy.kernels.place.rows import ROW_WIDTH
from quirkpy.kernels.step.ledger import ISLAND_WIDTH
from quirkpy.kernels.step.responses import accelerate_each, respond, respond_with_modes
from quirkpy.kernels.tree.closure import PIVOT, REPORT_WIDTH, WEAKEST
from quirkpy.kernels.tree.elimination import G_WIDTH, WIDTH
from quirkpy.kernels.tree.evaluation import evaluate
from quirkpy.kernels.tree.merging import BLOCK_WIDTH
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.kernels.tree.modes import width_of
from quirkpy.kernels.tree.reach import SPAN_WIDTH
from quirkpy.kernels.tree.stops import LATCH, STOP_JOINT, latch_labels, stop_labels, stops_of
from quirkpy.kernels.tree.tree import (
    CARRIER,
    COUNT,
    FIRST,
    FIRST_ROW,
    GENERAL_NODE,
    LOOP_BODY1,
    LOOP_BODY2,
    LOOP_BODY3,
    LOOP_ROW,
    LOOP_WIDTH,
    NODE,
    PARENT,
    PLACE,
    tree_of,
)
from quirkpy.kernels.users.callbacks import PythonParts
from quirkpy.kernels.users.modal import points_of, states_of
from quirkpy.kernels.users.packing import pack
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.blocks import merging_pays, without_tree
from quirkpy.mechanics.direct import DirectCall
from quirkpy.mechanics.instant import Instant
from quirkpy.parts.force import ELEMENT_KINDS, KINDS
from quirkpy.tables.tables import PAIR, Selection

EVALUATE = DirectCall(evaluate)
#: Of each kind of elements, whether its loads on bodies depend on their relative motion alone, and
#: add up to nothing.
BETWEEN_BODIES = np.array(
    [KINDS[kind].acts_on == "sites" and KINDS[kind].felt == "relative" for kind in ELEMENT_KINDS]
)


def groups_of(selection: Selection, islands: Ints) -> Ints:
    """The number of the group of each body: of islands that forces between bodies, such as strings,
    hold together; -1: with the ground (nb,)."""
    if max(islands.tolist(), default=-1) < 0:  # every body hangs together with the ground
        return islands
    t, n = selection.tables, len(islands)
    acting = selection.elements[BETWEEN_BODIES[t.element_kind[selection.elements]]]
    acting = acting[(t.element_site1[acting] >= 0) & (t.element_site2[acting] >= 0)]
    if not len(acting):
        return islands
    ends = t.site_body[t.element_site1[acting]], t.site_body[t.element_site2[acting]]
    label = [*np.where(islands < 0, n, islands).tolist(), n]
    for one, two in zip(*(bodies.tolist() for bodies in ends), strict=True):
        a, b = label[one], label[two]
        if a != b:
            label = [max(a, b) if each in (a, b) else each for each in label]
    return np.array([-1 if each == n else each for each in label[:n]], dtype=islands.dtype)


def ropes_in(selection: Selection) -> list[int]:
    """The elements of the active ropes and strings."""
    t, acting = selection.tables, selection.elements
    pairs = acting[t.element_kind[acting] == PAIR]
    return list(map(int, pairs[t.element_numbers[pairs, IS_ROPE] != 0.0]))


class Layout:
    """A selection in the form of the compiled evaluator: its numbers, tree, islands and stops, and
    a pool of engines.

    Its data, above all its `model`, are constant and may be read from any thread. What changes
    while accelerations are computed is in engines; `lend` gives an engine to one user at a time, so
    that runs, queries during runs, and threads never share one.

    tree: the spanning tree, and the rows that close its loops; solved: the tree by which
    accelerations are computed: the same one or, where loops are many, one in which all bodies are
    free and merged and all joints are rows; memory: the storage that it needs.

    states: offsets within states; None: those of the bodies and their modes."""

    def __init__(self, selection: Selection, states: StateLayout | None = None) -> None:
        self.selection, self.packed = selection, pack(selection.tables)
        self.states = states or states_of(selection.tables)
        tree, self.islands = tree_of(selection, self.packed)
        self.stops, one, two = stops_of(selection, self.packed)
        stops = closing_stops(one, two)
        self.tree = tree._replace(loops=np.concatenate([tree.loops, stops])) if len(one) else tree
        self.solved, self.memory = self.tree, 0
        if not len(self.packed.modes.what) and merging_pays(
            tree, len(selection.rows), selection.tables.body_mass
        ):
            rows = closing_rows_of(selection, self.packed)
            self.solved, self.memory = without_tree(tree, np.concatenate([rows, stops]))
        self._idle: list[Engine] = []

    def lend(self) -> Loan:
        """An engine in its initial state, for exclusive use until the end of the block."""
        return Loan(self)

    def on(self, selection: Selection) -> Layout:
        """A layout for a selection that differs only in the numbers of its tables; it shares the
        tree and the engines."""
        out = copy(self)
        out.selection = selection
        return out

    @cached_property
    def model(self) -> Model:
        """All arrays that every engine reads and none writes."""
        p, joints = self.packed, JointTable(self.packed.ends, self.packed.coordinates)
        return Model(
            self.solved, p.sites, joints, p.rows, p.elements, p.schedules, self.selection.elements,
            p.bodies, self.islands, groups_of(self.selection, self.islands), self.stops, p.modes,
        )  # fmt: skip

    @cached_property
    def ropes(self) -> list[int]:
        """The elements of the active ropes and strings."""
        return ropes_in(self.selection)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A label for each active bound: the name of its stop or joint, and which side."""
        return stop_labels(self.selection, self.stops)

    @cached_property
    def bounding(self) -> Bools:
        """Which of the stops are bounds of their coordinates: all but latches (ns,)."""
        return np.asarray(self.stops.numbers[:, LATCH] == 0.0)

    @cached_property
    def latches(self) -> tuple[str, ...]:
        """The labels of the latches."""
        return latch_labels(self.selection, self.stops)

    def loop(self, k: int) -> tuple[str, ...]:
        """The joints of the loop that closing row k closes, the row's own joint first; none for k =
        -1, and where no loop is."""
        if not 0 <= k < len(self.solved.loops):
            return ()
        t, nodes = self.selection.tables, self.tree.nodes
        row, a, b = self.solved.loops[k, :LOOP_BODY3].tolist()
        own = t.row_joint[row] if row >= 0 else self.stops.what[-1 - row, STOP_JOINT]
        if self.memory:
            return tuple(t.joint_names[j] for j in shortest_loop(own, self.selection, self.packed))
        carriers = [own]
        while a != b:  # move up from the deeper body
            if nodes[a, PLACE] < nodes[b, PLACE]:
                a, b = b, a
            carriers.append(nodes[a, CARRIER])
            a = nodes[a, PARENT]
        return tuple(t.joint_names[j] for j in carriers if j >= 0)


class Loan:
    """The block for which an engine is lent; a class, as a generator with `yield` takes longer than
    some queries."""

    __slots__ = ("engine", "layout")

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def __enter__(self) -> Engine:
        try:
            self.engine = self.layout._idle.pop()  # thread-safe: pop gives an engine to one thread
        except IndexError:
            self.engine = Engine(self.layout)
        self.engine.begin_anew(self.layout.selection)
        return self.engine

    def __exit__(self, *_: object) -> None:
        self.layout._idle.append(self.engine)


class AtWork:
    """The block within which somebody works with an engine that is lent: it is taken, and given
    back."""

    __slots__ = ("give_back", "loan", "take")

    def __init__(
        self, loan: Loan, take: Callable[[Engine], None], give_back: Callable[[], None]
    ) -> None:
        self.loan, self.take, self.give_back = loan, take, give_back

    def __enter__(self) -> Engine:
        engine = self.loan.__enter__()
        self.take(engine)
        return engine

    def __exit__(self, *error: object) -> None:
        self.give_back()
        self.loan.__exit__(*error)


class Engine:
    """Accelerations of one selection by the compiled recursion, in memory of its own; see
    `Layout.lend`.

    Its `conditions` are the time, angles, stops that hold, and the parameters of closing rows:
    passed to the kernels beside the model, and set by the methods here; kernels that continue a run
    update them."""

    def __init__(self, layout: Layout) -> None:
        selection, tree = layout.selection, layout.solved
        n, m = len(tree.nodes) - 1, len(tree.loops)
        self.selection, self.labels, self.states = selection, layout.labels, layout.states
        self.model = layout.model
        packed = layout.packed
        self.conditions = new_conditions(
            len(packed.coordinates), len(layout.stops.what), len(packed.elements.what)
        )
        self.scratch = Scratch(
            ground_frames(n),
            zero_vectors(n + 1),
            np.zeros(len(selection.elements) + len(layout.packed.modes.what)),
            np.zeros(2),
            np.zeros((n + 1, WIDTH)),
            room_for_freedoms(layout),
            np.zeros((m, ROW_WIDTH)),
            *room_for_loops(layout),
            np.zeros((n + 1, ISLAND_WIDTH)),
            np.zeros(REPORT_WIDTH),
            np.zeros((3, layout.states.tail)),
        )
        self.python = PythonParts(selection, self.model, self.conditions, self.scratch)

    def begin_anew(self, selection: Selection) -> None:
        """Reset the conditions of the last user: angles, stops that hold, parameters of closing
        rows, and errors in Python."""
        self.selection = selection
        begin_anew(self.conditions, PIVOT)
        self.scratch.report[:] = 0.0
        self.scratch.report[WEAKEST] = 1.0
        if self.states.tail:
            self.scratch.tail[:] = 0.0
        self.python.begin_anew()

    def accelerations(self, at: Instant) -> Floats:
        """Accelerations (nb, 6): of the mass centre in N, omega-dot in body axes."""
        self.turn_to(at.near)
        self.hold(at.held)
        if self.states.tail:
            self.stand_at(at.further)
        out = zero_vectors(len(at.r))
        state = at.whole if self.states.tail else at.state
        EVALUATE.run(at.t, state, self.model, self.conditions, self.scratch, out)
        self.python.raise_pending()
        return out

    def all_accelerations(self, at: Instant) -> Floats:
        """The rates of all speeds, the further ones last, as a flat vector in the order of
        `StateLayout`."""
        out = self.accelerations(at)
        return self.states.vector(out, self.states.speeds_in(self.scratch.tail[1]))

    def respond(self, t: float, rows: Floats) -> tuple[Floats, Floats, Floats]:
        """States by rows (k, n, STATE_WIDTH) projected onto their joints; their accelerations by
        rows (k, n, 6), and potential energies [J] (k,)."""
        if self.states.tail:
            return self._respond_with_modes(t, rows, True)
        states = with_ledger(rows)
        found, energies = zero_vectors(len(rows), rows.shape[1]), np.empty(len(rows))
        given = self.model, self.conditions, self.scratch, np.zeros(2)
        respond(t, states, *given, found, energies)
        self.python.raise_pending()
        return bodies_of(states), found, energies

    def accelerations_of(self, t: float, rows: Floats) -> Floats:
        """Accelerations by rows (k, n, 6) of states as they are (k, n, STATE_WIDTH)."""
        if self.states.tail:
            return self._respond_with_modes(t, rows, False)[1]
        out = zero_vectors(*rows.shape[:2])
        accelerate_each(t, as_many(rows), self.model, self.conditions, self.scratch, out)
        self.python.raise_pending()
        return out

    def _respond_with_modes(
        self, t: float, rows: Floats, projecting: bool
    ) -> tuple[Floats, Floats, Floats]:
        """`respond` where bodies bend, of states put on their joints or as they are."""
        points, many = points_of(self.selection.tables), len(rows)
        lines, energies = points.lines(rows), np.empty(many)
        found, further = zero_vectors(many, self.states.bodies), np.zeros((many, len(points.roots)))
        given = self.model, self.conditions, self.scratch, np.zeros(2)
        respond_with_modes(t, lines, projecting, *given, found, further, energies)
        self.python.raise_pending()
        return points.from_lines(lines), points.with_modes(found, further / points.roots), energies

    def hold(self, labels: Iterable[str]) -> None:
        """Set the stops that hold, by name; all others are released."""
        if self.labels:
            held = set(labels)
            self.hold_those(np.array([label in held for label in self.labels], dtype=bool))

    def hold_those(self, holding: Bools) -> None:
        """Set the stops that hold by a mask (ns,), and reset the record of decisions on them."""
        self.conditions.stops[:, HOLDS], self.conditions.stops[:, DECIDED] = holding, 0.0

    def hold_bounds(self, bounding: Bools, labels: Iterable[str]) -> None:
        """Set the stops that hold among the bounding ones (ns,), by name; others stay as they
        are."""
        if self.labels:
            held = set(labels)
            now = np.array([label in held for label in self.labels])
            stops = self.conditions.stops
            stops[:, HOLDS] = np.where(bounding, now, stops[:, HOLDS])

    def stand_at(self, further: Floats) -> None:
        """Set the further coordinates and speeds for evaluations from bodies alone."""
        self.scratch.tail[0] = further

    def turn_to(self, angles: Floats) -> None:
        """Set the reference angles of joints."""
        self.conditions.near[:] = angles

    def hold_phases(self, phases: Ints) -> None:
        """Set the laws of ropes and strings, taut or slack (ne,)."""
        self.conditions.phases[:] = phases

    def set_time(self, t: float) -> None:
        """Set the time t [s] of evaluations without a time of their own."""
        self.conditions.control[TIME] = t

    def close_rows_by(self, pivot: float, of_gap: float, of_slip: float) -> None:
        """Set the pivot of closing rows, and Baumgarte's gains."""
        control = self.conditions.control
        control[PIVOT_USED], control[OF_GAP], control[OF_SLIP] = pivot, of_gap, of_slip


def room_for_freedoms(layout: Layout) -> Floats:
    """Memory for joints with several freedoms and for modes; no rows where there is neither."""
    nodes, modes = layout.solved.nodes, layout.packed.modes
    width = max(map(width_of, modes.what[:, MODE_COUNT].tolist()), default=0)
    needed = width or GENERAL_NODE in nodes[:-1, NODE]
    return np.zeros((len(nodes) - 1 if needed else 0, G_WIDTH + width))


def room_for_loops(layout: Layout) -> tuple[Floats, Ints]:
    """Memory for closing loops: innovations and their spans, or memory for merging with its
    blocks."""
    tree, m = layout.solved, len(layout.solved.loops)
    if layout.memory:
        blocks = len(tree.nodes) + int(tree.merges[0, FIRST_ROW])
        return np.zeros((1, layout.memory)), np.zeros((max(m, blocks), BLOCK_WIDTH), dtype=np.int64)
    freedoms = int((tree.nodes[:-1, FIRST] + tree.nodes[:-1, COUNT]).max(initial=0))
    return np.zeros((m + 1, freedoms)), np.zeros((m, SPAN_WIDTH), dtype=np.int64)


def closing_rows_of(selection: Selection, packed: Packed) -> Ints:
    """All rows of the active joints, with their bodies, as rows that close loops."""
    out = np.empty((len(selection.rows), LOOP_WIDTH), dtype=np.int64)
    out[:, LOOP_ROW] = selection.rows
    out[:, LOOP_BODY1:] = packed.rows.what[selection.rows, ROW_BODY1 : ROW_BODY4 + 1]
    return out


def shortest_loop(joint: int, selection: Selection, packed: Packed) -> list[int]:
    """The fewest active joints that close a loop with this one, itself first; alone, where it is in
    none. All joints to the ground meet in one node."""
    ends = {int(j): packed.carriers[j, [BODY1, BODY2]].tolist() for j in selection.joints}
    start, goal = ends.pop(joint)
    way: dict[int, list[int]] = {start: [joint]}
    for b in (reached := [start]):
        for j, (one, two) in ends.items():
            other = two if one == b else one
            if b in (one, two) and other not in way:
                way[other] = [*way[b], j]
                reached.append(other)
    return way.get(goal, [joint])


def closing_stops(one: Ints, two: Ints) -> Ints:
    """The closing rows of stops, numbered -1, -2 ... with their bodies."""
    loops = np.full((len(one), LOOP_WIDTH), -1, dtype=np.int64)
    loops[:, LOOP_ROW], loops[:, LOOP_BODY1], loops[:, LOOP_BODY2] = (
        -1 - np.arange(len(one)),
        one,
        two,
    )
    return loops
