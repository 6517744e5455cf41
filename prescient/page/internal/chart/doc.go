// Package chart draws charts as SVG, without style of its own: the stylesheet has the colours, by class. What a chart shows stands in a table behind it, too.
package chart
