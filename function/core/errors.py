"""Every exception of the code, in one tree, and the exceptions that a composer raises.

An exception ends one of four things:

- A **decision**: Undecided. The composer holds, and a condition of the XR tells the user why: it is an answer.
- A **call**: DeadlineExceeded, MalformedRequest, Overloaded. The caller gets a gRPC status; the XR does not change.
- A **response**: UnknownKind, TooLarge. The user sees a fatal result on the XR, or a condition.
- A **command**: all exceptions of settings and tools. The command prints the message and exits with an error.

Any other exception is a bug. `server.runner` turns it into one fatal result, so that Crossplane stops before it deletes
anything. Code that must not swallow bugs catches the exceptions below by name.

    BaseException
    ├─ DeadlineExceeded           raised by core.deadline; server.runner: CANCELLED or DEADLINE_EXCEEDED
    └─ Exception
       ├─ Undecided               caught by the Composer, which holds; the user sees a condition
       │  ├─ NotYet               raised by composers: an input is missing
       │  │  └─ Missing           raised by composers: it was looked up and is not there; the XR is not Ready
       │  └─ InvalidSpec          raised by parsers and composers; validation and the CLI report it as well
       ├─ Exhausted               raised by scheduling.budget; kinds.modeldeployment raises NotYet for it
       ├─ MalformedRequest        raised by wire; server.runner: INVALID_ARGUMENT
       ├─ Overloaded              raised by server.admission; server.runner: RESOURCE_EXHAUSTED
       ├─ Fault                   raised while CEL compiles; cel raises InvalidSelector for it
       ├─ Failure                 raised while CEL runs, absorbed by || and &&; cel reports an evaluation error
       ├─ Abort                   raised while CEL runs, absorbed by nothing; cel reports an evaluation error
       ├─ BrokenFile              raised by cli for input files; the user sees file, line and column
       ├─ CannotRender            raised by the renderer of the sandbox; `modelplane render` prints it
       ├─ Fatal                   a fatal result in the sandbox; the reconcile reports it in condition Synced
       ├─ Refused                 raised by the API server of the sandbox; the client's request fails
       ├─ RequestFailed           raised by the API server of the sandbox; the reconcile stops and is repeated
       │  └─ Conflict             another writer was there in between
       ├─ DidNotConverge          the control loop of the sandbox does not settle; the command prints it
       ├─ BeyondLimit             raised by planning.explanation.trials; the change is told as not tried
       ├─ Died                    Crossplane stops between two writes of a simulation, and starts again
       ├─ Nothing                 raised by hydrate.selection; the Job ends with code 14
       ├─ UnusableCredentials     raised by apiserver.credentials for a kubeconfig; the command prints it
       ├─ NoAnswer                raised by apiserver.client; the observer tries again, other commands print it
       │  └─ Unauthorized         the credentials are not accepted
       ├─ KindRefused             raised by apiserver.client; what is read tells it, and has the other kinds
       │  ├─ Forbidden            a right is missing; `--live` says which, and how to give it
       │  └─ NotServed            the API server does not have the kind
       ├─ NotInstalled            raised by live.fleet: no kind of ours is served; the command prints it
       ├─ VersionGone             raised by apiserver.client while it reads; the kind is listed anew
       ├─ NotConvertible          raised by conversion for an object of the input; `convert` reports it, and goes on
       ├─ UnknownName             `what-if` names something that is not in the fleet; the command prints it
       ├─ Untrustworthy           raised by hydrate.trust; the Job ends with code 2
       ├─ Unclear                 what `explain` is asked about is not one object of the fleet; the command prints it
       │  └─ InvalidName          what `explain` is asked about is no name of an object
       ├─ ClickException          of click, which prints it and ends the command
       │  ├─ InvalidInput         the errors of the files are printed before it, and are part of the JSON document
       │  └─ Interrupted          by Ctrl-C: exit code 130
       ├─ LookupError
       │  └─ UnknownKind          raised by registry; server.runner answers with a fatal result
       ├─ OSError
       │  └─ CannotListen         raised by probes for an address; `serve` and `observe` print it with the option
       ├─ RuntimeError
       │  ├─ Unreachable          `--target` reaches no server; the command prints it
       │  └─ Unsettled            requirements never settle, in the sandbox; condition Synced reports it
       └─ ValueError
          ├─ EvaluationFailed     raised by a CEL rule or query; the sandbox and its provider catch it
          ├─ Invalid              raised by vocabulary.settings; the process does not start
          ├─ InvalidSelector      raised by cel; composers raise InvalidSpec for it
          ├─ Malformed            raised by CEL parsers of URLs and addresses; the CEL function fails or is false
          ├─ MalformedDeclaration raised by observe.declaration; the observer logs it, and observes the others
          ├─ NoDevice             raised by cli for a file of devices; the user sees the document and what it must be
          ├─ UnknownStep          a line is no step of a simulation
          ├─ Unreadable           a file with steps has such a line; `simulate --replay` prints it
          ├─ TooLarge             raised by wire; server.runner holds, and the user sees the kind's InvalidSpec reason
          └─ UnusableCertificates raised by server.certificates; startup fails, or the old certificates stay

Exceptions whose names begin with an underscore never leave their module and are not drawn.
"""

from __future__ import annotations

from function.core.condition import Condition
from function.core.request import Requirement
from function.core.result import Decided


class Undecided(Exception):
    """Nothing may change on this pass. The condition tells the user why."""

    def __init__(
        self, condition: Condition, *, decided: Decided | None = None, asks: tuple[Requirement, ...] = ()
    ) -> None:
        super().__init__(condition.message)
        self.condition = condition
        self.decided = decided or {}
        """Resources that the hold changes all the same."""
        self.asks = asks
        """What was read up to now, and what must be read before a decision, besides what the kind always requires."""


class NotYet(Undecided):
    """An input of the decision is missing: not resolved, not found, or not ready."""


class Missing(NotYet):
    """An input was looked up and does not exist, or is not what is needed. The XR is not Ready until it is.

    Unlike an answer that is awaited or doubted, this is known, and Ready would claim the opposite. A kind whose Ready
    is computed from what is observed, such as a ModelReplica, raises NotYet.
    """


class InvalidSpec(Undecided):
    """The spec cannot be carried out. The condition names the field, its value and what would be accepted."""


class DeadlineExceeded(BaseException):
    """The call must stop: its deadline or the server's limit has passed, or the caller has left.

    A BaseException, like `asyncio.CancelledError`: code that turns exceptions into decisions must not catch it.
    """

    def __init__(self, *, cancelled: bool, limit: float = 0.0) -> None:
        passed = f"computing it takes more than {limit:g} seconds" if limit else "the deadline passed"
        super().__init__("the caller left" if cancelled else passed)
        self.limit = 0.0 if cancelled else limit
        """The server's limit in seconds, if that has passed."""
        self.cancelled = cancelled
        """Whether the caller left. If not, a deadline passed."""
