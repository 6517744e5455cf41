package config

import (
	"time"

	"prescient/config/value"
)

// Notify is who is told of what doctor finds.
type Notify struct {
	// Receivers are told; without one nobody looks.
	Receivers []Receiver
	// Every is the time from one look to the next, Hold for how long a finding is to be there before it is told, and Gone for how long it is to be gone
	// before it is over. Reminder is the time after which what is still there is told again; 0 for never.
	Every, Hold, Gone, Reminder time.Duration
	// Ignore are codes of findings that nobody is told of.
	Ignore []string
}

// Receiver is somebody who is told.
type Receiver struct {
	// Name is an identifier; no two have the same.
	Name string
	// Kind is KindWebhook, KindAlertmanager or KindMail.
	Kind string
	// URL is where it is told. Of it scheme and host are printed.
	URL value.Secret
	// Secret signs webhooks, and is the password of a server of e-mail. It is read from secret_file or secret_env and is zero if neither is given.
	Secret value.Secret
	// From and To are addresses of e-mail.
	From, To []string
	// Level is from which severity on it is told: LevelWarn or LevelBad.
	Level string
	// QuietFrom and QuietUntil are times of the day between which it is left alone; the same for never. Zone is where they are so.
	QuietFrom, QuietUntil time.Duration
	Zone                  *time.Location
	// QuietFor is what waits for their end: LevelWarn, or QuietAll for what is bad, too.
	QuietFor string
	// Rate is how many messages a minute it gets at most.
	Rate int
}

// Kinds of receivers, and their levels.
const (
	KindWebhook      = "webhook"
	KindAlertmanager = "alertmanager"
	KindMail         = "mail"

	LevelWarn = "warn"
	LevelBad  = "bad"
	QuietAll  = "all"
)
