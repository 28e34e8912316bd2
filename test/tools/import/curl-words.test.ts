import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCurl } from '../../../src/tools/import/curl-request.ts'
import { guessShell, MAX_COMMAND_CHARS, splitCurl } from '../../../src/tools/import/curl-words.ts'
import { runsOf } from '../../support/cases-of-run.ts'
import { nastyText } from '../../templates/nasty.ts'

const wordsOf = (source: string): string[] => splitCurl(source).words.map(({ text }) => text)

/** A shell passes no NUL to a program, and some texts are signs of cmd.exe (`guessShell`). */
const text = nastyText
  .map(value => value.replaceAll('\0', ''))
  .filter(value => !value.includes('^\\^"') && !value.includes('"{""'))

const inSingleQuotes = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`

const inDoubleQuotes = (value: string): string => `"${value.replaceAll(/["\\$`]/g, '\\$&')}"`

/** As Chrome writes texts with quotes or line breaks for bash: one escape for each UTF-16 unit. */
const inAnsiQuotes = (value: string): string => {
  const escapes = Array.from({ length: value.length }, (_, index) => {
    const code = value.charCodeAt(index).toString(16).padStart(4, '0')
    return /[A-Za-z0-9 ]/.test(value.charAt(index)) ? value.charAt(index) : `\\u${code}`
  })
  return `$'${escapes.join('')}'`
}

const withBackslashes = (value: string): string =>
  value === '' ? "''" : value.replaceAll('\n', "'\n'").replaceAll(/[^A-Za-z0-9\n']/gu, '\\$&')

describe('any text, quoted for a POSIX shell', () => {
  const styles = { inSingleQuotes, inDoubleQuotes, inAnsiQuotes }

  it.each(Object.entries(styles))('is read unchanged: %s', (_name, quote) => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), words => {
        expect(wordsOf(`curl ${words.map(quote).join(' ')} end`)).toEqual([...words, 'end'])
      }),
      { numRuns: runsOf(1_000) },
    )
  })

  it('is read unchanged with a backslash before each character', () => {
    const withoutQuotes = text.map(value => value.replaceAll(/['\n\r]/g, ''))
    fc.assert(
      fc.property(withoutQuotes, value => {
        expect(wordsOf(`curl ${withBackslashes(value)} end`)).toEqual([value, 'end'])
      }),
      { numRuns: runsOf(1_000) },
    )
  })

  it('is one word if several styles of quotes follow each other', () => {
    fc.assert(
      fc.property(text, text, text, (one, two, three) => {
        expect(wordsOf(`curl ${inSingleQuotes(one)}${inDoubleQuotes(two)}${inAnsiQuotes(three)}`)).toEqual([
          one + two + three,
        ])
      }),
      { numRuns: runsOf(500) },
    )
  })
})

/** As Chrome quotes for cmd.exe: all backslashes doubled, and a caret before each character that could be special. */
const asChromeForCmd = (value: string): string => {
  const escaped = value
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll(/[^A-Za-z0-9\s_\-:=+~'/.',?;()*`]/g, '^$&')
    .replaceAll(/%(?=\w)/g, '%^')
    .replaceAll('\n', '^\n\n')
  return `^"${escaped}^"`
}

/** As Microsoft documents it: backslashes are doubled only before a quote, then cmd.exe's own characters get carets. */
const asMicrosoftDocuments = (value: string): string => {
  const quoted = `"${value.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`
  return quoted.replaceAll(/[()%!^"<>&|]/g, '^$&')
}

describe('any text, quoted for cmd.exe', () => {
  const withoutReturns = text.map(value => value.replaceAll('\r', ''))

  it('is read unchanged if Chrome quoted it', () => {
    fc.assert(
      fc.property(fc.array(withoutReturns, { minLength: 1, maxLength: 4 }), words => {
        // A backslash somewhere shows that backslashes are doubled.
        const all = [...words, '\\']
        expect(wordsOf(`curl ^"https://example.com^" ^\n  ${all.map(asChromeForCmd).join(' ^\n  ')}`)).toEqual([
          'https://example.com',
          ...all,
        ])
      }),
      { numRuns: runsOf(1_000) },
    )
  })

  it('is read unchanged if it is quoted as Microsoft documents it', () => {
    const oneLine = withoutReturns.map(value => value.replaceAll('\n', ''))
    fc.assert(
      fc.property(fc.array(oneLine, { maxLength: 4 }), words => {
        expect(wordsOf(`curl ^"a^" ${words.map(asMicrosoftDocuments).join(' ')}`)).toEqual(['a', ...words])
      }),
      { numRuns: runsOf(1_000) },
    )
  })
})

describe('any text, quoted for PowerShell', () => {
  it('is read unchanged in single quotes', () => {
    const withoutEscapedQuotes = text.filter(value => !value.includes('\\"'))
    fc.assert(
      fc.property(withoutEscapedQuotes, value => {
        expect(wordsOf(`curl.exe \`\n  '${value.replaceAll("'", "''")}' end`)).toEqual([value, 'end'])
      }),
      { numRuns: runsOf(500) },
    )
  })
})

describe('the shell of a command', () => {
  it.each([
    ['posix', `curl -H 'a: b' \\\n https://example.com`],
    ['posix', `curl -d '{"a": "^"}' https://example.com`],
    ['posix', 'curl https://example.com/`whoami`'],
    ['cmd', `curl ^"https://example.com^"`],
    ['cmd', `curl https://example.com ^\r\n  -H "a: b"`],
    ['cmd', `curl "https://example.com" --data-binary "^{^\\^"a^\\^":1^}"`],
    ['cmd', `curl "https://example.com" --data "{""a"":1}"`],
    ['powershell', 'curl.exe https://example.com `\n  -H "a: b"'],
  ])('is guessed as %s: %s', (shell, source) => {
    expect(guessShell(source)).toBe(shell)
  })
})

describe('a command as it is copied', () => {
  it.each<[string, string, string[]]>([
    ['with a prompt', '$ curl a b', ['a', 'b']],
    ['with the prompts of all its lines', '$ curl a \\\n> -d b \\\n> c', ['a', '-d', 'b', 'c']],
    ['with a prompt of Windows', 'C:\\Users\\me> curl a', ['a']],
    ['with a prompt of PowerShell', 'PS C:\\Users\\me> curl.exe a', ['a']],
    ['as a block of Markdown', '```bash\ncurl a\n```\n', ['a']],
    ['with comments', '# first\ncurl a # more\n', ['a']],
    ['with a # inside a word', 'curl a#b', ['a#b']],
    ['with CRLF line ends', 'curl a \\\r\n  b\r\n', ['a', 'b']],
    ['with spaces after a backslash', 'curl a \\  \n  -d b', ['a', '-d', 'b']],
    ['without the backslashes before options', 'curl a\n  -d b\n  --json c', ['a', '-d', 'b', '--json', 'c']],
    ['with no-break spaces', 'curl\u00a0a\u00a0 b', ['a', 'b']],
    ['with a pipe', 'curl a | jq .', ['a']],
    ['with redirections', 'curl a > out.json 2>&1 b', ['a', 'b']],
    ['with a redirection of everything', 'curl a &> out.json', ['a']],
    ['with a path', '/usr/bin/curl a', ['a']],
    ['as curl.exe', 'curl.exe a', ['a']],
    ['with sudo and variables in front', 'sudo A=1 curl a', ['a']],
    ['after another command', 'cd "my folder" && curl a', ['a']],
    ['after an assignment with a substitution', 'A=$(b "c")\ncurl a', ['a']],
    ['with escapes for NUL, which ends a text in a shell', "curl $'a\\u0000b\\x00c\\0d'", ['abcd']],
    ['cut after a backslash', 'curl a \\', ['a']],
    ['with an empty word', `curl '' ""`, ['', '']],
    ['with a value to be filled in', 'curl https://example.com/<id>', ['https://example.com/<id>']],
    [
      'from Chrome for cmd.exe',
      'curl ^"a^%^20b^&c^" ^\n  -H "d" ^\n  --data-raw ^"^{^\\^"e^\\^":^\\^"^\\^\\n^\\^"^}^"',
      ['a%20b&c', '-H', 'd', '--data-raw', '{"e":"\\n"}'],
    ],
    [
      'from an older Chrome for cmd.exe',
      'curl "a" --data-binary "^{^\\^"b^\\^":^[^]^}" --compressed',
      ['a', '--data-binary', '{"b":[]}', '--compressed'],
    ],
    ['from an older Firefox for cmd.exe', 'curl "a" --data "{""b"":1}"', ['a', '--data', '{"b":1}']],
    ['for cmd.exe with Windows paths', 'curl ^\n -d "C:\\dir\\\\" -H "a\\\\b"', ['-d', 'C:\\dir\\', '-H', 'a\\\\b']],
    ['for PowerShell', 'curl.exe `\n  -d "a`"b""c`n" \'{\\"d\\": 1}\'', ['-d', 'a"b"c\n', '{"d": 1}']],
  ])('is read: %s', (_name, source, words) => {
    expect(wordsOf(source)).toEqual(words)
  })

  it('has a here-document as its input', () => {
    const source = 'curl -d @- a <<\'END\' | jq .\n{"b": "it\'s"}\nEND\nnext'
    expect(splitCurl(source)).toMatchObject({ stdin: '{"b": "it\'s"}\n' })
  })

  it('has the here-document of a command that is piped into it as its input', () => {
    expect(splitCurl('cat <<END | curl -d @- a\nbody\nEND\n')).toMatchObject({ stdin: 'body\n' })
    expect(splitCurl('curl -d @- a <<-END\n\t\tbody\t\n\tEND\n')).toMatchObject({ stdin: 'body\t\n' })
  })
})

describe('what a shell would replace', () => {
  it.each([
    ['"$TOKEN"', ['TOKEN', '$TOKEN']],
    ['$' + '{TOKEN}', ['TOKEN', '$' + '{TOKEN}']],
    ['"$' + '{TOKEN:-none}"', ['TOKEN', '$' + '{TOKEN:-none}']],
    ['"$(cat token.txt | tr -d \'()\')"', ['cat', "$(cat token.txt | tr -d '()')"]],
    ['`date +%F`', ['date', '`date +%F`']],
    ['$1', ['argument_1', '$1']],
    ['$"hello $NAME"', ['NAME', '$NAME']],
  ])('is a variable: %s', (source, [name, written]) => {
    expect(splitCurl(`curl ${source}`).variables.all()).toEqual([{ name, written, from: 'shell' }])
  })

  it.each(["'$TOKEN'", '\\$TOKEN', '"\\$TOKEN"', "$'$TOKEN'", '"costs 5$"', "'`date`'"])('is text: %s', source => {
    expect(splitCurl(`curl ${source}`).variables.all()).toEqual([])
  })

  it('is a variable between percent signs for cmd.exe, but percent escapes are not', () => {
    const { variables } = splitCurl('curl ^"a^" -H "%API_TOKEN%" "%C3%A9%20" ')
    expect(variables.all()).toEqual([{ name: 'API_TOKEN', written: '%API_TOKEN%', from: 'shell' }])
  })

  it('is a variable of the environment for PowerShell', () => {
    const { variables } = splitCurl('curl.exe `\n "$env:TOKEN" \'$env:OTHER\'')
    expect(variables.all()).toEqual([{ name: 'TOKEN', written: '$env:TOKEN', from: 'shell' }])
  })

  it('is no variable of the request in another command', () => {
    expect(splitCurl('echo "$A"; curl "$B"').variables.all()).toMatchObject([{ name: 'B' }])
  })

  it('is one variable if it is used twice', () => {
    expect(
      splitCurl('curl "$A" "$' + '{A}" $B')
        .variables.all()
        .map(({ name }) => name),
    ).toEqual(['A', 'B'])
  })
})

describe('a text that cannot be read', () => {
  it.each([
    ["curl \\\n -H 'a", 2, 5, 'the quote that starts here is not closed'],
    ['curl "a\nb', 1, 6, 'the quote that starts here is not closed'],
    ["curl $'a", 1, 6, 'the quote that starts here is not closed'],
    ['curl ^"a^" ^\n  -H ^"b', 2, 6, 'the quote that starts here is not closed'],
    ['curl "$(date"', 1, 7, 'the command that starts here is not closed'],
    ['curl "$' + '{A"', 1, 7, 'the variable that starts here is not closed'],
    ['curl a\0', 1, 7, 'NUL characters are not allowed. Remove them'],
    ['wget https://example.com', 1, 1, 'this is not a curl command. Paste one that starts with curl'],
    ['', 1, 1, 'this is not a curl command. Paste one that starts with curl'],
    ['curl -X', 1, 6, '-X needs a value'],
    ['curl https://example.com --data', 1, 26, '--data needs a value'],
    ['curl -s', 1, 1, 'the command has no URL'],
    ['curl \\\n  ftp://example.com/a', 2, 3, 'the URL has the scheme ftp; only http and https can be imported'],
    ['curl https:///a', 1, 6, 'the URL has no host'],
    ['curl https://exa%mple.com', 1, 6, 'this is not a valid URL. Check the host and the port'],
    ['curl -F a https://example.com', 1, 6, 'a form field has no =. Write it as name=value'],
  ])('reports where and why: %j', (source, line, column, message) => {
    expect(readCurl(source)).toMatchObject({ ok: false, error: { line, column, message } })
  })

  it('reports a text that is too long', () => {
    const source = `curl ${'a'.repeat(MAX_COMMAND_CHARS)}`
    expect(readCurl(source)).toMatchObject({
      ok: false,
      error: { message: 'this is longer than 262144 characters. Paste one command only' },
    })
  })

  it('reports more variables than a tool can have parameters', () => {
    const source = `curl ${Array.from({ length: 300 }, (_, index) => `$V${index}`).join(' ')}`
    expect(readCurl(source)).toMatchObject({ ok: false, error: { message: 'there are more than 256 variables' } })
  })
})

describe('the characters that are examined', () => {
  /** Texts that are read piece by piece: each could be read again and again by a careless parser. */
  const PIECES = [
    "'",
    '"',
    '\\',
    '$',
    '$(',
    '$' + '{',
    '`',
    "$'",
    '<<',
    '<',
    '>',
    '^',
    '^"',
    '\n',
    '\r\n',
    ' ',
    '\t',
    '#',
    '&',
    '|',
  ]
  const OTHERS = [
    '%A',
    '%',
    '(',
    ')',
    '{',
    '}',
    'curl',
    '-',
    '-d',
    '$A',
    '\\x41',
    '\\u41',
    '<a>',
    'PS C:',
    '?',
    ';',
    'é',
    '\u00a0',
  ]

  const countExamined = (source: string): number => {
    let examined = 0
    readCurl(source, count => {
      examined += count
    })
    return examined
  }

  it('grow with the length of the text only, whatever is repeated', () => {
    const piece = fc.array(fc.constantFrom(...PIECES, ...OTHERS), { minLength: 1, maxLength: 4 })
    const start = fc.constantFrom(
      'curl ',
      'curl ^"',
      'curl `\n',
      "curl '",
      'curl "',
      "curl $'",
      'cat <<E\n',
      '$ curl a \\\n',
      '',
    )
    fc.assert(
      fc.property(start, piece, (before, repeated) => {
        const source = before + repeated.join('').repeat(2_000)
        expect(countExamined(source)).toBeLessThan(20 * source.length)
      }),
      { numRuns: runsOf(500) },
    )
  })
})
