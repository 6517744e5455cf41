package schedule

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/schedule/internal/kept"
)

// MaxVersions is how many versions of a schedule are kept beside what it is: those that were last.
const MaxVersions = 50

// Version is a definition that a schedule had.
type Version struct {
	// Schedule is whole, but that a listing has no payload that is longer than 4 kB.
	Schedule
	// Version is the last that the schedule had with this definition: a pause and a resume make one, too.
	Version uint64
	// CreatedAt is that of the schedule: one that was deleted, and is created again, counts its versions from 1 again.
	CreatedAt time.Time
	// EndedAt is when another took its place, or when the schedule was deleted; zero for the definition that it has.
	EndedAt time.Time
	// Bytes is how long the payload is, and Digest the SHA-256 of one that a listing leaves out.
	Bytes  int
	Digest []byte
}

// Which names a version of a schedule.
type Which struct {
	Version uint64
	// CreatedAt is that of the schedule, where one of its id was deleted, and is meant; by default that of the one that is there, or that
	// was deleted last.
	CreatedAt time.Time
}

// keepVersions keeps what schedules are that are locked, and are about to be changed or deleted. Jobs keep versions of their own.
func (s *Schedules) keepVersions(ctx context.Context, db prescient.DB, ids []string) error {
	if s.ofJobs {
		return nil
	}
	return kept.Keep(ctx, s.tables, db, ids, MaxVersions)
}

// Versions returns what is kept of the definitions that a schedule had, the latest first, also of one that was deleted; payloads says whether
// their payloads are read, but for long ones. The definition that it has is not among them.
func (s *Schedules) Versions(ctx context.Context, db prescient.DB, id string, payloads bool) ([]Version, error) {
	if err := validID(id); err != nil {
		return nil, err
	}
	payload := noPayload
	if payloads {
		payload = toCompare
	}
	return s.versions(ctx, db, "schedule/version_list", payload, "{id}", literal.Of(literal.AppendText, id), "{places}", s.tables.Places(id), "{limit}", literal.Of(literal.AppendInt, 2*MaxVersions))
}

func (s *Schedules) versions(ctx context.Context, db prescient.DB, statement string, payload payloads, pairs ...string) ([]Version, error) {
	query := s.tables.Fill(statement, append([]string{"{payload}", string(payload)}, pairs...)...)
	found, err := store.Rows(ctx, db, "reading versions of schedules", query, (*Version).into)
	for i, one := range found {
		if one.Bytes > MaxShort && len(one.Payload) != one.Bytes {
			found[i].Payload, found[i].Digest = nil, one.Payload
		}
	}
	return found, err
}

// into is where the columns of a row go.
func (v *Version) into() []any {
	return []any{store.Unhex(&v.ID), lines(&v.Crontabs), store.OrZero(&v.Zone), &v.Payload, store.OrZero(&v.Bytes), store.OrZero(&v.JobExec), store.OrZero(&v.Topic),
		store.OrZero(&v.Owner.Name), store.Unhex(&v.Owner.Key), store.OrZero(&v.CatchUp), store.Seconds(&v.CatchUpWithin), store.Seconds(&v.ExpiresAfter),
		store.Seconds(&v.Jitter), &v.MayCoalesce, &v.Version, &v.Long, store.OrZero(&v.Overlap), store.Seconds(&v.Tolerance), quota{&v.Quota}, &v.Pool,
		store.OrZero(&v.Heartbeat), store.At(&v.CreatedAt), store.At(&v.EndedAt)}
}

// GetVersion returns what a schedule was with a version, also of one that was deleted; whole, where the payload is wanted. The error wraps ErrNotFound.
func (s *Schedules) GetVersion(ctx context.Context, db prescient.DB, id string, which Which, whole bool) (Version, error) {
	if err := validID(id); err != nil {
		return Version{}, err
	}
	payload := noPayload
	if whole {
		payload = withPayload
	}
	there, err := s.find(ctx, db, []string{id}, payload, store.Plainly)
	if err != nil {
		return Version{}, err
	}
	of := literal.Of(literal.AppendText, id)
	created := which.CreatedAt
	switch {
	case !created.IsZero():
	case len(there) > 0:
		created = there[0].CreatedAt
	default:
		last, err := s.versions(ctx, db, "schedule/version_list", noPayload, "{id}", of, "{places}", s.tables.Places(id), "{limit}", "1")
		if err != nil {
			return Version{}, err
		}
		if len(last) > 0 {
			created = last[0].CreatedAt
		}
	}
	found, err := s.versions(ctx, db, "schedule/version_find", payload, "{id}", of, "{places}", s.tables.Places(id), "{created}", literal.Of(literal.AppendMicro, created), "{version}", literal.Of(literal.AppendUint, which.Version))
	switch {
	case err != nil:
		return Version{}, err
	case len(found) > 0:
		return found[0], nil
	case len(there) > 0 && there[0].CreatedAt.Equal(created) && which.Version <= there[0].Version:
		is := there[0]
		return Version{Schedule: is.Schedule, Version: is.Version, CreatedAt: is.CreatedAt, Bytes: is.size}, nil
	}
	return Version{}, fmt.Errorf("%w: version %d of schedule %q; the last %d are kept", ErrNotFound, which.Version, id, MaxVersions)
}
