package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
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
	if s.ofJobs || len(ids) == 0 {
		return nil
	}
	err := s.tables.Exec(ctx, db, "keeping versions of schedules", "schedule/version_keep", "{ids}", idList(ids))
	if errno.Is(err, errno.TableDenied) {
		return nil // grants were not run again
	}
	if err != nil {
		return err
	}
	type kept struct {
		id string
		n  int
	}
	query := s.tables.Fill("schedule/version_many", "{ids}", idList(ids), "{most}", literal.Of(literal.AppendInt, MaxVersions))
	many, err := store.Rows(ctx, db, "counting versions of schedules", query, func(row *kept) []any { return []any{store.Unhex(&row.id), &row.n} })
	if err != nil {
		return err
	}
	for _, of := range many {
		if err := s.forgetOldest(ctx, db, of.id, of.n-MaxVersions); err != nil {
			return err
		}
	}
	return nil
}

// mostForgotten is how many versions one change forgets at most: an app may have written more by plain SQL.
const mostForgotten = 100

// forgetOldest forgets the oldest versions of a schedule that is locked.
func (s *Schedules) forgetOldest(ctx context.Context, db prescient.DB, id string, n int) error {
	of := literal.Of(literal.AppendText, id)
	query := s.tables.Fill("schedule/version_oldest", "{id}", of, "{limit}", literal.Of(literal.AppendInt, int64(min(n, mostForgotten))))
	oldest, err := store.Rows(ctx, db, "reading versions of schedules", query, func(row *Which) []any { return []any{store.At(&row.CreatedAt), &row.Version} })
	if err != nil || len(oldest) == 0 {
		return err
	}
	named := make([]string, len(oldest))
	for i, one := range oldest {
		named[i] = "created_at = " + literal.Of(literal.AppendMicro, one.CreatedAt) + " AND version = " + literal.Of(literal.AppendUint, one.Version)
	}
	return s.tables.Exec(ctx, db, "forgetting versions of schedules", "schedule/version_forget", "{id}", of, "{versions}", strings.Join(named, " OR "))
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
	return s.versions(ctx, db, "schedule/version_list", payload, "{id}", literal.Of(literal.AppendText, id), "{limit}", literal.Of(literal.AppendInt, 2*MaxVersions))
}

func (s *Schedules) versions(ctx context.Context, db prescient.DB, statement string, payload payloads, pairs ...string) ([]Version, error) {
	query := s.tables.Fill(statement, append([]string{"{payload}", string(payload)}, pairs...)...)
	found, err := store.Rows(ctx, db, "reading versions of schedules", query, (*Version).into)
	for i, one := range found {
		if one.Bytes > maxShort && len(one.Payload) != one.Bytes {
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

// GetVersion returns what a schedule was with a version, whole; also of one that was deleted. The error wraps ErrNotFound.
func (s *Schedules) GetVersion(ctx context.Context, db prescient.DB, id string, which Which) (Version, error) {
	return s.version(ctx, db, id, which, withPayload)
}

// FindVersion is GetVersion without the payload.
func (s *Schedules) FindVersion(ctx context.Context, db prescient.DB, id string, which Which) (Version, error) {
	return s.version(ctx, db, id, which, noPayload)
}

func (s *Schedules) version(ctx context.Context, db prescient.DB, id string, which Which, payload payloads) (Version, error) {
	if err := validID(id); err != nil {
		return Version{}, err
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
		last, err := s.versions(ctx, db, "schedule/version_list", noPayload, "{id}", of, "{limit}", "1")
		if err != nil {
			return Version{}, err
		}
		if len(last) > 0 {
			created = last[0].CreatedAt
		}
	}
	found, err := s.versions(ctx, db, "schedule/version_find", payload, "{id}", of, "{created}", literal.Of(literal.AppendMicro, created), "{version}", literal.Of(literal.AppendUint, which.Version))
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

// GoBack makes a version the definition of its schedule again, payload included, as UpdateFrom does: by a change that makes a version of its own.
// A schedule that was deleted is created again. It says whether anything changed. Errors: ErrNotFound, and those of UpdateFrom and Create.
func (s *Schedules) GoBack(ctx context.Context, db prescient.DB, id string, to Which, version uint64) (changed bool, err error) {
	err = s.own.InTx(ctx, db, func(db prescient.DB) error {
		was, err := s.GetVersion(ctx, db, id, to)
		if err != nil {
			return err
		}
		changed, err = s.UpdateFrom(ctx, db, was.Schedule, version)
		if errors.Is(err, ErrNotFound) && version == 0 {
			changed, err = s.Create(ctx, db, was.Schedule)
		}
		return err
	})
	return changed, err
}
