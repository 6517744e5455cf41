package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
)

// Kind is what an entry is about.
type Kind string

// The kinds.
const (
	// Schedule is a schedule, by its id.
	Schedule Kind = "schedule"
	// Job is a job of steps, by its name.
	Job Kind = "job"
	// Step is a step that jobs share, by its name.
	Step Kind = "step"
	// Rule is a rule, by its name.
	Rule Kind = "rule"
	// JobExec is a job_exec, by its name; * is everything, *events what forwarders publish. It is paused and resumed.
	JobExec Kind = "job_exec"
	// Check is a check, by [CheckID].
	Check Kind = "check"
	// Event is an event that was set aside, by its id.
	Event Kind = "event"
	// Bulk is what was done to all checks that a filter matched, by the number of the bulk run.
	Bulk Kind = "bulk"
	// Token is a token of the API, by its number.
	Token Kind = "token"
	// User is somebody who signs in to the page, by the name.
	User Kind = "user"
	// Agent is a process that works, by its name.
	Agent Kind = "agent"
	// Installation is what has no object of its own; its id is InstallationID.
	Installation Kind = "installation"
)

// InstallationID is the id of the one Installation.
const InstallationID = "prescient"

// Kinds are all kinds.
func Kinds() []Kind {
	return []Kind{Schedule, Job, Step, Rule, JobExec, Check, Event, Bulk, Token, User, Agent, Installation}
}

// The verbs that several kinds share. Others are for the room that needs them.
const (
	Create = "create"
	Update = "update"
	// Delete ends an incarnation of an object: it counts as one more version.
	Delete = "delete"
	Pause  = "pause"
	Resume = "resume"
	// Run is a run by hand.
	Run = "run"
)

// Entry is what one change did to one object.
type Entry struct {
	Kind Kind
	// ID of the object: up to 400 characters.
	ID string
	// Entity is that of a Check: where that lies in a sharded keyspace, its entries do.
	Entity prescient.Entity
	// Verb says what was done: an identifier of up to 32 letters.
	Verb string
	// Version is that of the object after the change; 0 where it has none.
	Version uint64
	// Incarnation is the created_at of an object, where the change made the version: it tells the object from one of its name that
	// was deleted. The doctor finds a version of an incarnation that no entry made, or two. It is zero for what makes no version, such
	// as a run.
	Incarnation time.Time
	// Before and After say how the object was and is; nil for nothing. They are written as JSON. Long parts are to be Bounded; what
	// is longer than 64 KB all the same is written as its length and SHA-256.
	Before, After any
}

// Limits of what an entry holds.
const (
	maxID    = 400
	maxVerb  = 32
	maxState = 64 << 10
	// maxWhole is how many bytes a payload may have that stands in an entry as it is.
	maxWhole = 1 << 10
)

// CheckID is the id of a check.
func CheckID(e prescient.Entity, jobExec, tag string) string {
	id := e.String() + " " + jobExec
	if tag != "" {
		id += " " + tag
	}
	return id
}

// stream is a hash of kind and id, to which a CHECK of the table holds it.
type stream [16]byte

func streamOf(kind Kind, id string) stream {
	sum := sha256.Sum256([]byte(string(kind) + "\x00" + id))
	return stream(sum[:16])
}

// place is where in a sharded keyspace the entry lies: with the check or the schedule that it is about, and else anywhere, with all of its object.
func (e Entry) place() prescient.KeyspaceID {
	switch {
	case e.Entity != prescient.Entity{}:
		return e.Entity.KeyspaceID()
	case e.Kind == Job:
		return reserved.PlaceOf(reserved.JobPrefix + e.ID)
	}
	of := streamOf(e.Kind, e.ID) // of a schedule it begins with the hash of its timer's entity
	return prescient.KeyspaceID(of[:len(prescient.KeyspaceID{})])
}

func (s stream) literal(b []byte) []byte { return literal.AppendBytes(b, s[:]) }

// entryID tells an entry from others of the same microsecond. It is random.
type entryID [8]byte

func (id entryID) literal(b []byte) []byte { return literal.AppendBytes(b, id[:]) }

// parseStream reads one from the hexadecimal digits that a server gives.
func parseStream(digits string) (s stream, err error) {
	_, err = hex.Decode(s[:], []byte(digits))
	return s, err
}

// digest stands for what is too long for an entry.
type digest struct {
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func digestOf(text []byte) digest {
	sum := sha256.Sum256(text)
	return digest{len(text), hex.EncodeToString(sum[:])}
}

// Digest is Bounded for a long payload that was not read, but its SHA-256.
func Digest(bytes int, sha256 []byte) any { return digest{bytes, hex.EncodeToString(sha256)} }

// Bounded is a payload as it stands in an entry: nil for none, a text of up to 1 KB as it is, other short bytes in base64, and what is
// longer by its length and SHA-256.
func Bounded(payload []byte) any {
	switch {
	case payload == nil:
		return nil
	case len(payload) > maxWhole:
		return digestOf(payload)
	case utf8.Valid(payload):
		return string(payload)
	}
	return struct {
		Base64 string `json:"base64"`
	}{base64.StdEncoding.EncodeToString(payload)}
}

// state is JSON of up to maxState bytes; empty for nil.
func state(of any) (string, error) {
	if of == nil {
		return "", nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(of); err != nil {
		return "", fmt.Errorf("%w: %T of an entry of the audit: %w", prescient.ErrInvalid, of, err)
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(text) <= maxState {
		return string(text), nil
	}
	short, err := json.Marshal(digestOf(text))
	return string(short), err
}

func (e Entry) validate() error {
	if err := prescient.ValidIdentifier("kind of an entry of the audit", string(e.Kind)); err != nil {
		return err
	}
	if err := prescient.ValidIdentifier("verb of an entry of the audit", e.Verb); err != nil {
		return err
	}
	if len(e.Verb) > maxVerb || len(e.Kind) > maxVerb {
		return fmt.Errorf("%w: kind %q and verb %q of an entry of the audit: at most %d letters are allowed", prescient.ErrInvalid, e.Kind, e.Verb, maxVerb)
	}
	if e.ID == "" {
		return fmt.Errorf("%w: id of an entry of the audit is empty", prescient.ErrInvalid)
	}
	return prescient.ValidText("id of an entry of the audit", e.ID, maxID)
}
