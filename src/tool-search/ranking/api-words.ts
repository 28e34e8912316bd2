/** A related word and its weight. A weight of 1 means that both words have the same meaning. */
type RelatedWord = { word: string; weight: number }

/**
 * Synonyms as used in APIs, one group per line. Searching for a word after `>` also finds the words before it, but not
 * vice versa. A general English dictionary does not improve the results (docs/adr/0012).
 */
const GROUPS = `
get list show read fetch retrieve view return > see look find display check tell inspect browse know open
search find query lookup > hunt seek locate discover look
create add new make > open write register insert start set put have report file draft begin open draw found
update edit modify change set replace patch > alter adjust rewrite correct fix revise save keep rename mend
delete remove destroy erase clear purge > discard drop wipe rid throw trash away withdraw undo empty detach kick take kill ban clean
cancel stop abort > halt end quit interrupt kill terminate close
enable activate start publish > on allow switch begin turn
disable deactivate suspend pause stop > off block offline down halt freeze hide turn
run execute trigger dispatch start > launch kick perform invoke begin
rerun retry restart redeliver rerequest re > again repeat anew another
restore rollback revert reset recover > undo back previous before earlier return bring
cache purge > refresh stale outdated
lock protect > pin guard freeze hold prevent safe fix stop
protection rule ruleset restriction policy > guard forbid safeguard protect careless prevent
approve accept review confirm > yes agree allow sign
dismiss decline reject deny > no refuse
request ask require > want please have
invite invitation add member collaborator > let join welcome bring
block ban suspend > troublemaker abuse spam stop bar
transfer move > hand pass relocate give migrate over
copy clone fork duplicate > replicate own copied
clone download checkout > copied computer copy pull disk
merge combine join > unite integrate bring
upload attach import push > send put add
download export archive log > save copy output
transfer assign owner > give hand
assign assignee owner > responsible charge task charge
label tag category topic > sort classify group mark kind
rename name title > call
star favorite bookmark like stargazer starred > save love
subscribe watch follow subscription notification webhook hook event > hear told notify inform alert watch
notification inbox message mail email > unread news letter
thread conversation discussion comment > talk chat debate
comment reply answer remark note review > say said opinion feedback tell write speak
reaction emoji > smiley thumbs like heart face emoticon react
user person member people account profile > who whom whose somebody someone colleague individual human employee friend customer login troublemaker
collaborator member contributor > colleague coworker partner helper friend person people
contributor author committer > working work wrote written people person
reviewer review > colleague look check examine read
team group > department crew squad colleague
organization org company account team > firm business enterprise employer
repository repo project code > codebase base source program software
issue ticket bug task > problem defect fault error complaint report
pull request change > proposed proposal patch diff contribution
release version > published publication ship delivered software
asset file attachment binary > document download executable program
branch ref reference > line development main trunk
file document content > text page drawing source
file design node canvas > drawing sketch picture mockup layout graphic
image picture photo render thumbnail > drawing screenshot png jpeg graphic snapshot layer
node layer frame element > part shape
component library style > building block reusable shared design part
style color colour font text fill > look appearance theme typography
component set variant > building block reusable
analytics usage usages stats statistics metric insight report traffic activity > often use used count measure number much many
traffic view referrer visitor > visit website come audience
referrer path > website come send link
usage size limit storage > space much disk take room large
cache artifact > stored dependency saved
rate limit quota > throttle throttled slow many often allowed
workflow action pipeline build job run check > ci step test automation console
job step > pipeline stage
log output > console print trace
log audit event activity history > changed who lately recently past record happened doing
history version revision > earlier past state previous before old older
failed failure error > broken crash wrong red fail
secret credential key token password > safe hidden private confidential
variable env environment setting config configuration > program option parameter preference read
ssh gpg public key signing > laptop computer sign login password machine
login authenticate authentication session token > sign password enter
site website page pages deploy > homepage web internet online webpage blog
deploy deployment release publish > live ship online put homepage
domain dns zone record hostname > internet address name connect url web
tls ssl certificate https > safe secure encrypt encryption lock
form submission > contact sent filled entry answer send
hook webhook callback trigger > url address called call ping
build compile > compiles rebuild make
split test traffic > half variant experiment ab share another
database table migration sql > data tables row rows
snapshot backup > copy save keep
account plan subscription billing > contract hosting membership end leave
payment billing card invoice price > credit money bought buy cost paid customer purchase pay charge bank
plugin widget extension app addon > program
license terms legal > may permission use allowed law right
readme description > introduction front about text start cover
gist snippet > piece small share text note paste source
markdown html render > formatted plain web format text
milestone due > deadline date goal group until target
sub issue parent child > smaller break split part task big
emoji > smiley
embed oembed > blog article within show inside
search location > live where place city
team group > belong
folder directory > place
webhook event > told whenever change when
status state > how condition going
schedule calendar event meeting > appointment date plan when
order cart checkout product > buy purchase shop goods item
customer contact lead client > buyer person
file folder drive > document store
message chat channel post > talk write tell send
alert incident monitor > warning alarm outage problem
server instance machine host > computer box
translate language locale > speak tongue
weather forecast > rain temperature sky
map route location > way distance where direction
`

/** Abbreviations used in names, each after the word it stands for. Both have the same meaning. */
const SHORT_FORMS = `
administrator admin · application app · argument arg · attribute attr · authentication auth · authorization auth ·
calculate calc · category cat · certificate cert · character char · configuration config · connection conn · count cnt ·
database db · delete del · description desc · destination dest · development dev · directory dir · document doc ·
documentation docs · environment env · error err · execute exec · extension ext · function fn · generate gen ·
identifier id · image img · information info · initialize init · language lang · library lib · maximum max ·
message msg · minimum min · number num · object obj · organization org · package pkg · parameter param ·
password pwd · permission perm · picture pic · previous prev · production prod · property prop · quantity qty ·
reference ref · repository repo · request req · response resp · sequence seq · source src · specification spec ·
statistic stat · synchronize sync · system sys · temporary tmp · transaction tx · user usr · utility util ·
value val · variable var · version ver
`

/** Phrases that users write, each with the word that APIs use instead. */
const PHRASES: readonly (readonly [phrase: RegExp, words: string])[] = [
  [/\b(?:get|gets|getting) rid of\b/gi, 'delete'],
  [/\b(?:throw|take|put|give|clear) (?:it |them )?away\b/gi, 'delete'],
  [/\b(?:turn|switch)(?:ed|ing)? (?:it |them )?on\b/gi, 'enable'],
  [/\b(?:turn|switch)(?:ed|ing)? (?:it |them )?off\b/gi, 'disable'],
  [/\b(?:go|going|roll) back\b/gi, 'rollback'],
  [/\b(?:sign|log)(?:ged|ging|ing|ed)? in(?:to)?\b/gi, 'login'],
  [/\b(?:sign|log)(?:ged|ging|ing|ed)? out\b/gi, 'logout'],
  [/\bset(?:ting)? up\b/gi, 'create'],
  [/\bcode base\b/gi, 'codebase'],
  [/\b(?:look|looking) for\b/gi, 'search'],
  [/\bbuilding blocks?\b/gi, 'component'],
  [/\bput to (?:use|work)\b/gi, 'usage'],
  [/\bno longer\b/gi, ''],
  [/\bup to date\b/gi, 'update'],
  [/\bunder way\b/gi, 'running'],
]

/** Replaces users' phrases with the words that APIs use instead. */
export const replacePhrases = (text: string): string =>
  PHRASES.reduce((told, [phrase, word]) => told.replaceAll(phrase, word), text)

type Group = { here: readonly string[]; leading: readonly string[] }

const parseGroups = (): Group[] =>
  GROUPS.trim()
    .split('\n')
    .map(line => {
      const [here = '', leading = ''] = line.split('>')
      const words = (text: string) =>
        text
          .trim()
          .split(/\s+/)
          .filter(word => word !== '')
      return { here: words(here), leading: words(leading) }
    })

/** Weights of synonyms in a group, of words after `>`, and of abbreviations. */
const WEIGHTS = { same: 0.85, led: 0.8, short: 1 }

const buildTable = (): ReadonlyMap<string, readonly RelatedWord[]> => {
  const table = new Map<string, Map<string, number>>()
  const add = (from: string, to: string, weight: number): void => {
    if (from === to) return
    const known = table.get(from) ?? new Map<string, number>()
    known.set(to, Math.max(known.get(to) ?? 0, weight))
    table.set(from, known)
  }
  for (const { here, leading } of parseGroups()) {
    for (const to of here) {
      for (const from of here) add(from, to, WEIGHTS.same)
      for (const from of leading) add(from, to, WEIGHTS.led)
    }
  }
  for (const pair of SHORT_FORMS.split('·')) {
    const [long = '', short = ''] = pair.trim().split(' ')
    add(long, short, WEIGHTS.short)
    add(short, long, WEIGHTS.short)
  }
  return new Map([...table].map(([from, words]) => [from, [...words].map(([word, weight]) => ({ word, weight }))]))
}

/** Returns words with a related meaning in APIs. The word must be in its base form. */
export type ApiWords = (word: string) => readonly RelatedWord[]

export const createApiWords = (): ApiWords => {
  const table = buildTable()
  return word => table.get(word) ?? []
}
