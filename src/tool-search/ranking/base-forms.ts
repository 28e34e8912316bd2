/** Irregular forms of common verbs and nouns, each followed by its base form. */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  `began begin begun begin bought buy broke break broken break brought bring built build came come caught catch children child
  chose choose chosen choose done do drawn draw drew draw driven drive fell fall felt feel found find gave give given give
  gone go got get gotten get grown grow heard hear held hold hidden hide hid hide kept keep knew know known know laid lay led
  lead left leave lent lend lost lose made make meant mean men man met meet paid pay people person ran run read read rose rise
  said say sat sit saw see seen see sent send shown show shut shut slept sleep sold sell spent spend spoken speak spoke speak
  stolen steal stood stand stuck stick sung sing taken take taught teach thought think threw throw thrown throw told tell took
  take understood understand went go women woman won win worn wear written write wrote write indices index`
    .split(/\s+/)
    .flatMap((word, at, all): [string, string][] => (at % 2 === 0 ? [[word, all[at + 1] ?? word]] : [])),
)

const ENDINGS: readonly [ending: string, instead: string][] = [
  ['ies', 'y'],
  ['sses', 'ss'],
  ['xes', 'x'],
  ['ches', 'ch'],
  ['shes', 'sh'],
  ['es', 'e'],
  ['s', ''],
  ['ied', 'y'],
  ['ed', 'e'],
  ['ed', ''],
  ['ing', 'e'],
  ['ing', ''],
  ['er', ''],
  ['est', ''],
]

/** Returns the word and its possible base forms. */
export const baseForms = (word: string): string[] => {
  const irregular = IRREGULAR.get(word)
  if (irregular !== undefined) return [irregular]
  const forms = [word]
  for (const [ending, instead] of ENDINGS) {
    if (!word.endsWith(ending) || word.length - ending.length < 3) continue
    const stem = word.slice(0, -ending.length)
    forms.push(stem + instead)
    // `running`, `planned`.
    if (instead === '' && /([^aeiou])\1$/.test(stem)) forms.push(stem.slice(0, -1))
  }
  return forms
}
