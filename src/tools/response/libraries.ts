import { createRequire } from 'node:module'
import type jsonata from 'jsonata'

/** A piece of an expression; `start`: where it begins in it. */
type Token = { start: number; value: unknown }
type Jmespath = { compile: (expression: string) => unknown; tokenize: (expression: string) => Token[] }

// Loaded with the first expression: most installations have none. They are files of CommonJS.
const require = createRequire(import.meta.url)

export const loadJsonata = (): typeof jsonata => require('jsonata')
export const loadJmespath = (): Jmespath => require('jmespath')

/** Where each library is, for a sandbox to run it in. */
export const libraryFiles = (): Readonly<Record<'jsonata' | 'jmespath', string>> => ({
  jsonata: require.resolve('jsonata'),
  jmespath: require.resolve('jmespath'),
})
