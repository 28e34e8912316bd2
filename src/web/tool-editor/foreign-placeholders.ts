import { originPart, replaceBraces, replaceUrlPlaceholders } from '../../tools/import/url-placeholders.ts'

type PlaceholderOffer = {
  /** The URL that was read. */
  from: string
  /** The URL with `{{name}}` for each placeholder of other tools. */
  url: string
  names: readonly string[]
  /**
   * Whether the URL may be converted without asking. False if a placeholder is in the host: whoever fills it in decides
   * where the request goes.
   */
  isAutomatic: boolean
}

/** Converts other tools' placeholders to parameters. Returns undefined if there are none. */
export const offerPlaceholders = (url: string): PlaceholderOffer | undefined => {
  const names = new Set<string>()
  const write = (name: string): string => {
    names.add(name)
    return `{{${name}}}`
  }
  const origin = originPart(url)
  const writtenOrigin = replaceBraces(origin, write)
  const converted = writtenOrigin + replaceUrlPlaceholders(url, write).slice(origin.length)
  if (converted === url) return undefined
  const inOrder = [...names].sort((one, other) => converted.indexOf(`{{${one}}}`) - converted.indexOf(`{{${other}}}`))
  return { from: url, url: converted, names: inOrder, isAutomatic: writtenOrigin === origin }
}
