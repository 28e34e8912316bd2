import { formatNumber } from '../../lib/kernel/format.ts'
import { hideQuery } from '../source-url.ts'

const MAX_NAMED = 10

/** What is done about the documents that a description refers to and that were not given. */
export type SortedMissing = {
  /** URLs that may be fetched. */
  fetchable: readonly string[]
  /** Origins of the others, which the builder must allow first. */
  needs: readonly string[]
  /** Names of files, which only the builder has. */
  files: readonly string[]
}

/** Sorts missing documents. Those of allowed origins are fetched, but not those in `tried`, which failed. */
export const sortMissing = (
  missing: readonly string[],
  allowed: ReadonlySet<string>,
  tried: ReadonlyMap<string, string>,
): SortedMissing => {
  const urls = missing.filter(name => /^https?:\/\//i.test(name) && URL.canParse(name))
  const isAllowed = (url: string): boolean => allowed.has(new URL(url).origin)
  return {
    fetchable: urls.filter(url => isAllowed(url) && !tried.has(url)),
    needs: [...new Set(urls.filter(url => !isAllowed(url)).map(url => new URL(url).origin))],
    files: missing.filter(name => !urls.includes(name)),
  }
}

const named = (texts: readonly string[]): string[] => {
  const more = texts.length - MAX_NAMED
  return more > 0 ? [...texts.slice(0, MAX_NAMED), `${formatNumber(more)} more documents are missing.`] : [...texts]
}

/** Describes the documents that stay missing, as notes. */
export const describeMissing = (
  { fetchable, files }: Pick<SortedMissing, 'fetchable' | 'files'>,
  tried: ReadonlyMap<string, string>,
): string[] => [
  ...named([...tried].map(([url, reason]) => `The document ${hideQuery(url)} is missing. ${reason}`)),
  ...named(files.map(name => `The document ${name} is missing. Give it together with the others.`)),
  ...named(fetchable.map(url => `The document ${hideQuery(url)} was not fetched, because there are too many.`)),
]
