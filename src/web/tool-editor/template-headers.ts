/** A header in the text of the headers field, which has one `Name: value` per line. */
export type HeaderText = { name: string; value: string }

const readLine = (line: string): HeaderText => {
  const colon = line.indexOf(':')
  return { name: line.slice(0, Math.max(colon, 0)).trim(), value: line.slice(colon + 1).trim() }
}

/** Returns the headers of the text. Lines that are not headers have no name. */
export const headersIn = (text: string): readonly HeaderText[] => text.split('\n').map(readLine)

export const withoutHeaders = (text: string, isRemoved: (header: HeaderText) => boolean): string =>
  text
    .split('\n')
    .filter(line => !isRemoved(readLine(line)))
    .join('\n')

export const withHeader = (text: string, { name, value }: HeaderText): string =>
  `${text.trimEnd()}${text.trimEnd() === '' ? '' : '\n'}${name}: ${value}`
