/**
 * Splits a URL that starts with its base URL as a placeholder, as importers write it: `{{url:base_url}}/path`. Returns
 * undefined for other URLs.
 */
export const splitBaseUrl = (url: string): { parameter: string; path: string } | undefined => {
  const [placeholder = '', parameter] = /^\{\{url:([\w.-]+)[^{}]*\}\}/.exec(url) ?? []
  return parameter === undefined ? undefined : { parameter, path: url.slice(placeholder.length) }
}
