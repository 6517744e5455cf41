package look

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed assets/*
var assetFiles embed.FS

//go:embed templates/*.html
var templates embed.FS

// asset is a file that browsers load. Its path has a hash of its content, so that they may keep it for ever.
type asset struct {
	path    string // below the base
	kind    string
	content []byte
}

// assetsPath is where assets are.
const assetsPath = "/assets/"

var kinds = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// assets are all of them, by name.
type assets map[string]asset

func readAssets() (assets, error) {
	files, err := fs.Glob(assetFiles, "assets/*")
	if err != nil {
		return nil, fmt.Errorf("reading the assets: %w", err)
	}
	all := make(assets)
	for _, file := range files {
		content, err := assetFiles.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading the assets: %w", err)
		}
		hash := sha256.Sum256(content)
		name := path.Base(file)
		all[name] = asset{assetsPath + hex.EncodeToString(hash[:8]) + "/" + name, kinds[path.Ext(name)], content}
	}
	return all, nil
}

// path is that of an asset below the base.
func (all assets) path(name string) (string, error) {
	a, is := all[name]
	if !is {
		return "", fmt.Errorf("there is no asset %q", name)
	}
	return a.path, nil
}

// serve answers a request for an asset, and says whether it was one for a path of assets.
func (all assets) serve(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, assetsPath) {
		return false
	}
	a, is := all[path.Base(r.URL.Path)]
	if !is || a.path != r.URL.Path { // one of another version of the program
		http.Error(w, "there is no such file", http.StatusNotFound)
		return true
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.content))
	return true
}
