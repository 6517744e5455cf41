package notify

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"prescient/prescient"
	"prescient/prescient/doctor"
)

const (
	// mostNames is how many names of what a code is about are kept and told.
	mostNames = 20
	// mostName bounds one of them, in characters; mostOthers is how many a text has beside its own.
	mostName, mostOthers = 100, 5
	// mostText bounds what is said of a code, in characters.
	mostText = 1000
)

// codeTables is that of the finding beside which there is no other: without its tables nothing is looked at.
const codeTables = "tables"

// seen is what a look has found of one code.
type seen struct {
	severity     doctor.Severity
	found        int
	names        []string // the first of what it is about, in their order
	text, remedy string
}

// sight is what a look has found, by code.
type sight struct {
	seen map[string]seen
	// unread are the codes, and kinds of codes, that were not looked at: of these nobody knows whether they are over.
	unread map[string]bool
	// partial says that nothing was looked at but what is seen, and none that nobody has looked at all.
	partial, none bool
	// ignore are codes, and kinds of codes, that nobody is told of.
	ignore []string
}

// knows says whether it was looked at what has a code.
func (s sight) knows(code string) bool { return !s.partial && !s.none && !ofCodes(code, s.isUnread) }

func (s sight) isUnread(code string) bool { return s.unread[code] }

// ignores says whether nobody is told of a code.
func (s sight) ignores(code string) bool {
	return ofCodes(code, func(one string) bool { return slices.Contains(s.ignore, one) })
}

// ofCodes says whether a code, or its kind, is one of some.
func ofCodes(code string, is func(code string) bool) bool {
	kind, _, _ := strings.Cut(code, ".")
	return is(code) || is(kind)
}

// see puts together what a look has found: all findings of a code are one. It is a pure function.
func see(findings []doctor.Finding, ignore []string) sight {
	s := sight{seen: make(map[string]seen), unread: make(map[string]bool), ignore: ignore}
	of := make(map[string][]doctor.Finding)
	for _, f := range findings {
		if f.Severity == doctor.SeverityUnseen || f.Unread {
			s.unread[f.Code] = true
		}
		s.partial = s.partial || f.Code == codeTables && f.Severity.Wrong()
		if f.Severity.Wrong() && !s.ignores(f.Code) {
			of[f.Code] = append(of[f.Code], f)
		}
	}
	for code, all := range of {
		s.seen[code] = together(all)
	}
	return s
}

// together makes one of the findings of a code: the text is that of the first of the worst, and names the others.
func together(all []doctor.Finding) seen {
	one := seen{severity: doctor.Worst(all), found: len(all)}
	worst := slices.IndexFunc(all, func(f doctor.Finding) bool { return f.Severity == one.severity })
	var others []string
	for i, f := range all {
		for _, name := range f.About {
			if name = clipTo(name, mostName); i != worst {
				others = append(others, name)
			}
			one.names = append(one.names, name)
		}
	}
	slices.Sort(one.names)
	one.names = slices.Compact(one.names)
	one.names = one.names[:min(len(one.names), mostNames)]
	one.text, one.remedy = all[worst].Text, clip(all[worst].Do)
	if n := len(all) - 1; n > 0 {
		one.text = strings.TrimSuffix(clipTo(one.text, mostText/2), ".") + fmt.Sprintf(". There %s %d more like this", map[bool]string{true: "is", false: "are"}[n == 1], n)
		slices.Sort(others)
		if others = slices.Compact(others); len(others) > 0 {
			one.text += ": " + strings.Join(others[:min(len(others), mostOthers)], ", ")
			if len(others) > mostOthers {
				one.text += ", …"
			}
		}
		one.text += "."
	}
	one.text = clip(one.text)
	return one
}

func clip(text string) string { return clipTo(text, mostText) }

// clipTo cuts a text, and makes one line of it: it may have in it what others wrote.
func clipTo(text string, most int) string {
	return prescient.Shorten(strings.Join(strings.Fields(strings.Map(plain, strings.ToValidUTF8(text, "�"))), " "), most)
}

func plain(r rune) rune {
	if unicode.IsControl(r) || prescient.Unseen(r) {
		return ' '
	}
	return r
}
