package value

// Mask is shown in place of a secret.
const Mask = "***"

// Secret is a text that prints masked: with every verb of fmt, as JSON or YAML, in a log, and inside other values.
// The zero Secret is empty. Compare what two of them reveal, not the values themselves.
type Secret struct {
	// A pointer, since fmt prints the insides of an unexported field without asking for its String.
	text  *string
	shown string
}

// NewSecret returns a Secret that prints as ***, or the zero Secret for an empty text.
func NewSecret(text string) Secret { return SecretShownAs(text, Mask) }

// SecretShownAs returns a Secret that prints as what can be shown of it.
func SecretShownAs(text, shown string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text, shown: shown}
}

// Reveal returns the text itself.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether there is no text.
func (s Secret) IsZero() bool { return s.text == nil }

// String returns the masked form: *** or what can be shown around it, and nothing for the zero Secret.
func (s Secret) String() string { return s.shown }

// GoString returns the masked form.
func (s Secret) GoString() string { return "value.Secret(" + s.shown + ")" }

// MarshalText returns the masked form. JSON and YAML use it too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.shown), nil }
