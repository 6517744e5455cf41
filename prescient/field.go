package prescient

// FieldError is what is wrong with one field of a definition, such as a schedule's or a job's, so that what read it from a file finds the
// line. It says what Err says.
type FieldError struct {
	// Field is named as in files: zone, crontab[1]. That of a step stands within a FieldError of its place, steps[0].
	Field string
	Err   error
}

// InField returns an error as that of a field; nil for none.
func InField(field string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{field, err}
}

// Error implements error.
func (e *FieldError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }
