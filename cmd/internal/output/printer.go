package output

import (
	"io"
)

// Printer prints until a write fails: the first error stands, and nothing is printed behind it.
//
//	p := output.To(w)
//	p.Say("moved %d rows", n)
//	…
//	return p.Err()
type Printer struct {
	to  io.Writer
	err error
}

// To returns a printer on a writer.
func To(w io.Writer) *Printer { return &Printer{to: w} }

// Say prints a line for people, as the function Say does.
func (p *Printer) Say(format string, args ...any) {
	if p.err == nil {
		p.err = Say(p.to, format, args...)
	}
}

// Text prints a text as it is.
func (p *Printer) Text(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.to, text)
	}
}

// JSON prints an object on a line, as the function JSON does.
func (p *Printer) JSON(v any) {
	if p.err == nil {
		p.err = JSON(p.to, v)
	}
}

// Table prints rows for people, as the function Table does, below a title if it has one; nothing where there are none.
func (p *Printer) Table(title string, columns []Column, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	if title != "" {
		p.Text(title + "\n")
	}
	if p.err == nil {
		p.err = Table(p.to, columns, rows)
	}
}

// Fields prints names with what each has, as the function Fields does.
func (p *Printer) Fields(width int, fields [][2]string) {
	if p.err == nil {
		p.err = Fields(p.to, width, fields)
	}
}

// Err is the first error of writing.
func (p *Printer) Err() error { return p.err }
