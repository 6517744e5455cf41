package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"prescient/prescient/schedule"
)

// ScheduleVersion is a definition that a schedule has, or had.
type ScheduleVersion struct {
	Schedule
	Version       uint64     `json:"version,string" doc:"The last that the schedule had with this definition: a pause and a resume make one, too."`
	CreatedAt     time.Time  `json:"created_at" doc:"When the schedule was created: one of its id that was deleted had versions of its own."`
	EndedAt       *time.Time `json:"ended_at,omitempty" doc:"When another took its place, or the schedule was deleted; it is so now where there is none."`
	PayloadBytes  int        `json:"payload_bytes,omitempty" doc:"How long the payload is; for operators."`
	PayloadSHA256 string     `json:"payload_sha256,omitempty" doc:"Of a payload that is longer than 4 kB, which a list leaves out; for operators."`
}

// OfVersion is a version of a schedule.
func OfVersion(v schedule.Version) ScheduleVersion {
	is := ScheduleVersion{Schedule: OfSchedule(v.Schedule), Version: v.Version, CreatedAt: v.CreatedAt, PayloadBytes: v.Bytes, PayloadSHA256: hex.EncodeToString(v.Digest)}
	if !v.EndedAt.IsZero() {
		is.EndedAt = &v.EndedAt
	}
	return is
}

// Listed is the version as a list has it: of a long payload there is a digest.
func (v ScheduleVersion) Listed() ScheduleVersion {
	if v.PayloadBytes <= schedule.MaxShort || v.PayloadSHA256 != "" {
		return v
	}
	s, _ := v.Defined() // which was defined
	digest := sha256.Sum256(s.Payload)
	v.Payload, v.PayloadBase64, v.PayloadSHA256 = nil, "", hex.EncodeToString(digest[:])
	return v
}
