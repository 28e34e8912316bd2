/** Replaces placeholders in a template with digits of the same length, which keeps positions correct. */
export const maskPlaceholders = (text: string): string => {
  let masked = ''
  let from = 0
  for (;;) {
    const open = text.indexOf('{{', from)
    const close = open === -1 ? -1 : text.indexOf('}}', open + 2)
    // No later placeholder can be closed either. Stopping here keeps the search linear.
    if (close === -1) return masked + text.slice(from)
    const start = open > from && text[open - 1] === '\\' ? open - 1 : open
    masked += text.slice(from, start) + text.slice(start, close + 2).replaceAll(/[^\n]/g, '1')
    from = close + 2
  }
}
