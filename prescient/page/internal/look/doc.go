// Package look is what all our pages look like and how they reach a browser: layout, stylesheet and script, headers, links below the base URL, words for
// times and numbers, and the page that says what went wrong. It knows nothing of what a page shows.
package look
