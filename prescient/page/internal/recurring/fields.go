package recurring

import (
	"encoding/json"
	"fmt"
	"strings"

	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/look"
)

// help says what the fields of a timing are for: where they are shown, and where they are set.
var help = map[string]string{
	"Crontabs":        "It fires whenever one of them does: minute, hour, day of the month, month and day of the week; @daily and the like, @every 1h30m, @at 2026-01-01T00:00:00Z.",
	"Zone":            "The zone whose clocks the crontabs go by, as in Europe/Berlin.",
	"Catch-up":        "What becomes of occurrences that were missed, as nobody worked at their time: once fires the earliest of them and passes over the rest, skip fires none, all fires each, up to 1,000.",
	"Catch-up window": "How late an occurrence may be and still fire as usual. What is later was missed. By default a minute or two slots, whichever is longer.",
	"Of use for":      "How long after its time an occurrence is of use: a run that was not called by then ends as expired, and an event is not sent. For ever by default.",
	"Jitter":          "It fires later than its crontabs say by a delay of its own, which is less than this: so not all fire at midnight that are asked for then.",
	"May coalesce":    "Crontabs may be finer than the slots: occurrences of one slot are one then.",
	"Long runs":       "Its runs may outlive their slots, and keep apart. Overlap, tolerance, quota and pool are for these.",
	"Overlap":         "What becomes of an occurrence that comes while the run before it is under way: forbid ends it as overlapped, queue has it wait, allow lets both run.",
	"Tolerance":       "By how much closer together than the occurrences two starts may be: a run that would start sooner ends as too_soon. A tenth of the interval by default.",
	"Quota":           "How long after its start a run is ended, as quota, which is no error. Half of the interval by default.",
	"Pool":            "Whose agents may have its long runs; that of the job_exec by default.",
	"Heartbeat":       "What is told as its runs begin and end: a name for which the configuration of workers has a URL.",
	"Owner":           "Whom it belongs to, as in customer/42: all that an owner has can be deleted at once.",
	"Runs":            "The job_exec that is called for each occurrence.",
	"Sends events to": "The topic to which an event is sent for each occurrence.",
	"Step":            "What the step is called: a name of letters, digits and _ . - that no other step of the job has; its calls are logged under it.",
	"Step is":         "A step of this job says itself what it runs. A shared step is defined once, for all jobs that have it: of it the name is enough.",
	"Step runs":       "The job_exec that is called. The agents that have the run have to have it.",
	"Arguments":       "JSON that the job_exec gets as its payload; none by default.",
	"Timeout":         "Bounds one call of it. By default that of the job_exec.",
	"Retries":         "How often it is called again after a failure. Never by default.",
	"Wait":            "How long it waits before it is called again; 10 seconds by default. The run holds its place meanwhile.",
	"After a failure": "What comes after the last failure: stop ends the run as failed, continue goes on with the next step.",
	"Payload":         "What a run or an event carries, byte for byte.",
}

func fieldOf(name, text string) look.Field {
	return look.Field{Name: name, Text: text, Help: help[name]}
}

// timingFields are those of a timing; what is empty stands for the default.
func timingFields(t definition.Timing, long bool) []look.Field {
	or := func(text, usual string) string {
		if text == "" {
			return usual
		}
		return text
	}
	all := []look.Field{fieldOf("Crontabs", strings.Join(t.Crontabs, "\n")), fieldOf("Zone", or(t.Zone, "UTC")), fieldOf("Catch-up", or(t.CatchUp, "once")),
		fieldOf("Catch-up window", or(look.Span(t.CatchUpWithinMS), "by default")), fieldOf("Of use for", or(look.Span(t.ExpiresAfterMS), "ever")), fieldOf("Jitter", or(look.Span(t.JitterMS), "none")),
		fieldOf("May coalesce", yes(t.MayCoalesce))}
	if long {
		quota := or(look.Span(t.QuotaMS), "by default")
		if t.NoQuota {
			quota = "none: a run takes as long as it does"
		}
		all = append(all, fieldOf("Overlap", or(t.Overlap, "forbid")), fieldOf("Tolerance", or(look.Span(t.ToleranceMS), "by default")), fieldOf("Quota", quota), fieldOf("Pool", or(t.Pool, "by default")))
	}
	return append(all, fieldOf("Heartbeat", or(t.Heartbeat, "none")))
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// scheduleFields are those of a schedule. Payload says what it carries; hidden from those who may not see it.
func scheduleFields(d definition.Schedule, operator bool) (all []look.Field) {
	if d.Topic != "" {
		all = append(all, fieldOf("Sends events to", d.Topic))
	}
	if d.JobExec != "" {
		all = append(all, fieldOf("Runs", d.JobExec))
	}
	all = append(all, fieldOf("Long runs", yes(d.Long)))
	all = append(all, timingFields(d.Timing, d.Long)...)
	if d.Owner != "" {
		all = append(all, fieldOf("Owner", d.Owner))
	}
	if operator {
		all = append(all, fieldOf("Payload", payloadText(d)))
	}
	return all
}

func payloadText(d definition.Schedule) string {
	text := "none"
	switch {
	case d.PayloadBase64 != "":
		text = "base64 " + d.PayloadBase64
	case d.Payload != nil && *d.Payload == "":
		text = "an empty text"
	case d.Payload != nil:
		text = *d.Payload
	}
	return look.Begin(text)
}

// jobFields are those of a job.
func jobFields(d definition.Job) []look.Field {
	all := timingFields(d.Timing, true)
	var order []string
	for _, s := range d.Steps {
		order = append(order, s.Name)
	}
	all = append(all, fieldOf("Steps, in order", strings.Join(order, "\n")))
	for _, s := range d.Steps {
		all = append(all, fieldOf("Step "+s.Name, stepText(s)))
	}
	return all
}

// stepText says a step in a line.
func stepText(s definition.Step) string {
	if s.Shared {
		return "the shared step of this name"
	}
	text := "runs " + s.JobExec
	if s.TimeoutMS > 0 {
		text += ", for " + look.Span(s.TimeoutMS) + " at most"
	}
	if s.Retries > 0 {
		text += fmt.Sprintf(", %d retries", s.Retries)
		if s.RetryWaitMS > 0 {
			text += " after " + look.Span(s.RetryWaitMS)
		}
	}
	if s.OnFailure == "continue" {
		text += ", goes on where it has failed"
	}
	if len(s.Arguments) > 0 {
		var flat any
		if json.Unmarshal(s.Arguments, &flat) == nil {
			if short, err := json.Marshal(flat); err == nil {
				return text + ", with " + look.Begin(string(short))
			}
		}
		return text + ", with " + look.Begin(string(s.Arguments))
	}
	return text
}
