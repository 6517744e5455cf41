package acceptance

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	pages, dead, err := deadLinks(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	if pages < 2 {
		t.Errorf("only %d pages were found", pages)
	}
	for _, link := range dead {
		t.Error(link)
	}
}

func TestADeadLinkIsFound(t *testing.T) {
	root := fstest.MapFS{
		"README.md": {Data: []byte("# A page\n\n[there](room/README.md), [a heading](room/README.md#two-words-x), [a file](room/x.go), [the room](room),\n" +
			"[its own](#a-page), [elsewhere](https://example.com/none), ![a picture](none.svg), [no file](none.md) and\n" +
			"[no heading](room/README.md#three). `[code](none.go)`\n\n```sh\n# Not a heading\n[code](none.sh)\n```\n\n[in code](#not-a-heading)\n")},
		"room/README.md": {Data: []byte("# Room\n\n## Two words: `x`\n\n## Room\n\n[up](../README.md#a-page), [the second](#room-1), [out](../../x.md)\n")},
		"room/x.go":      {Data: []byte("package room\n")},
		".git/page.md":   {Data: []byte("[not ours](none.md)\n")},
	}
	pages, dead, err := deadLinks(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"README.md: none.svg: there is no such file",
		"README.md: none.md: there is no such file",
		"README.md: room/README.md#three: there is no such heading",
		"README.md: #not-a-heading: there is no such heading",
		"room/README.md: ../../x.md: there is no such file",
	}
	if pages != 2 || !reflect.DeepEqual(dead, want) {
		t.Errorf("of %d pages got\n%s\nwant\n%s", pages, strings.Join(dead, "\n"), strings.Join(want, "\n"))
	}
}

var (
	linked   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan = regexp.MustCompile("`[^`\n]*`")
	heading  = regexp.MustCompile(`^#{1,6} +(.*?) *#*$`)
)

// deadLinks reads every page under root, and says which relative links lead to no file, or to no heading of a page.
func deadLinks(root fs.FS) (pages int, dead []string, err error) {
	err = eachPage(root, func(name string) error {
		pages++
		prose, _, err := readPage(root, name)
		if err != nil {
			return err
		}
		for _, link := range linked.FindAllStringSubmatch(codeSpan.ReplaceAllString(prose, ""), -1) {
			if wrong := leadsNowhere(root, name, link[1]); wrong != "" {
				dead = append(dead, fmt.Sprintf("%s: %s: %s", name, link[1], wrong))
			}
		}
		return nil
	})
	return pages, dead, err
}

// eachPage calls do with each page under root, but for hidden folders.
func eachPage(root fs.FS, do func(name string) error) error {
	return fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		return do(name)
	})
}

// leadsNowhere says what is wrong with a link on a page; nothing where it leads to a file or a heading, or elsewhere.
func leadsNowhere(root fs.FS, page, link string) string {
	to, err := url.Parse(link)
	switch {
	case err != nil:
		return err.Error()
	case to.Scheme != "" || to.Host != "":
		return ""
	}
	target := page
	if to.Path != "" {
		target = path.Join(path.Dir(page), to.Path)
	}
	if _, err := fs.Stat(root, target); err != nil {
		return "there is no such file"
	}
	if to.Fragment == "" {
		return ""
	}
	_, anchors, err := readPage(root, target)
	if err != nil || !slices.Contains(anchors, to.Fragment) {
		return "there is no such heading"
	}
	return ""
}

// readPage returns the text of a page without its blocks of code, and the anchors of its headings.
func readPage(root fs.FS, name string) (prose string, anchors []string, err error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return "", nil, err
	}
	code := false
	times := make(map[string]int)
	var kept []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
			continue
		}
		if code {
			continue
		}
		kept = append(kept, line)
		if h := heading.FindStringSubmatch(strings.TrimRight(line, "\n")); h != nil {
			anchor := anchorOf(h[1])
			if n := times[anchor]; n > 0 {
				anchors = append(anchors, fmt.Sprintf("%s-%d", anchor, n))
			} else {
				anchors = append(anchors, anchor)
			}
			times[anchor]++
		}
	}
	return strings.Join(kept, ""), anchors, nil
}

// anchorOf is what GitHub makes of a heading: lower case, - for spaces, and without what is neither letter nor digit.
func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
