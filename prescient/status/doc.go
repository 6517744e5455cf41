// Package status answers whoever is on call, at one look. What is wrong is what package doctor finds.
package status
