import { describe, expect, it } from 'vitest'
import { readCurl } from '../../../src/tools/import/curl-request.ts'
import type { ImportedRequest } from '../../../src/tools/import/imported-request.ts'
import { markOf } from '../../../src/tools/import/variable-marks.ts'

const read = (source: string): ImportedRequest => {
  const result = readCurl(source)
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}

const URL_ = 'https://api.example.com/a'

describe('a curl command', () => {
  it('is read as a request', () => {
    const source = `curl -sSLX PUT '${URL_}?b=1' \\
      -H 'Accept: application/json' -H 'X-Token: t' -H "Authorization: Bearer $TOKEN" \\
      -b 'c=1; d=2' -H 'Content-Type: application/json' --data-raw '{"e": 1}'`
    expect(read(source)).toEqual({
      method: 'PUT',
      url: `${URL_}?b=1`,
      headers: [
        { name: 'Accept', value: 'application/json' },
        { name: 'X-Token', value: 't' },
      ],
      auth: { kind: 'bearer', token: markOf('TOKEN') },
      cookies: [
        { name: 'c', value: '1' },
        { name: 'd', value: '2' },
      ],
      body: { kind: 'json', text: '{"e": 1}', contentType: 'application/json' },
      variables: [{ name: 'TOKEN', written: '$TOKEN', from: 'shell' }],
      notes: [],
    })
  })

  it('of Chrome for cmd.exe is the same request as the one for bash', () => {
    const forBash = `curl '${URL_}?q=%20b&c' \\
  -H 'accept: */*' \\
  -H 'x-quoted: "d"' \\
  --data-raw $'{"e":"f\\\\n\\'g\\'","h":"{\\\\"i\\\\":1}"}' \\
  -H 'content-type: application/json'`
    const forCmd = `curl ^"${URL_}?q=^%^20b^&c^" ^
  -H ^"accept: */*^" ^
  -H ^"x-quoted: ^\\^"d^\\^"^" ^
  --data-raw ^"^{^\\^"e^\\^":^\\^"f^\\^\\n'g'^\\^",^\\^"h^\\^":^\\^"^{^\\^\\^\\^"i^\\^\\^\\^":1^}^\\^"^}^" ^
  -H ^"content-type: application/json^"`
    expect(read(forCmd)).toEqual(read(forBash))
  })
})

describe('the method', () => {
  it.each([
    ['GET', ''],
    ['POST', '-d a'],
    ['POST', '--json {}'],
    ['POST', '-F a=b'],
    ['PUT', '-T file'],
    ['HEAD', '-I'],
    ['GET', '-G -d a'],
    ['HEAD', '-G -d a -I'],
    ['PATCH', '-d a -X PATCH'],
    ['PATCH', '-d a --request=PATCH'],
    ['DELETE', '-X POST -XDELETE'],
    ['get', '-X get'],
  ])('is %s for: curl %s', (method, options) => {
    expect(read(`curl ${options} ${URL_}`).method).toBe(method)
  })

  it.each(['-I -d a', '-d a -F b=c', '-T file -d a', '-I -F a=b'])('is undecided, as for curl itself: %s', options => {
    expect(readCurl(`curl ${options} ${URL_}`)).toMatchObject({
      ok: false,
      error: {
        message: 'a request has either data (-d), a form (-F), an upload (-T) or only a head (-I). Keep one of them',
      },
    })
  })
})

describe('the URL', () => {
  it.each([
    ['api.example.com/a', URL_],
    ['api.example.com:8080/a', 'https://api.example.com:8080/a'],
    ['localhost:3000/a', 'http://localhost:3000/a'],
    ['127.0.0.1/a', 'http://127.0.0.1/a'],
    ['[::1]:3000/a', 'http://[::1]:3000/a'],
    ['HTTPS://api.example.com/a', URL_],
    [`${URL_}#fragment?x`, URL_],
    ['https://user:password@api.example.com/a', URL_],
    ['https://api.example.com/./b/../a', URL_],
    ['https://api.example.com/../..', 'https://api.example.com/'],
    ['https://api.example.com/b/..', 'https://api.example.com/'],
    ["--path-as-is 'https://api.example.com/b/../a'", 'https://api.example.com/b/../a'],
    [`--url ${URL_}`, URL_],
    [`--url=${URL_}`, URL_],
    [`-- ${URL_}`, URL_],
    [`-G -d b=c -d d ${URL_}`, `${URL_}?b=c&d`],
    [`-G -d b=c '${URL_}?d&#e'`, `${URL_}?d&b=c`],
    [`-G ${URL_}`, URL_],
    [`-G -d '' ${URL_}`, URL_],
    [`--url-query 'b=c d' --url-query +e ${URL_}?f`, `${URL_}?f&b=c+d&e`],
    [`--request-target /b?c ${URL_}`, 'https://api.example.com/b?c'],
    [`--request-target /b/../c --url-query d ${URL_}`, 'https://api.example.com/b/../c'],
    ['-T dir/file.txt https://api.example.com', 'https://api.example.com/file.txt'],
    ['-T - https://api.example.com/', 'https://api.example.com/'],
    ['$BASE/a', `${markOf('BASE')}/a`],
    ['$BASE/a/../b?c#d', `${markOf('BASE')}/b?c`],
    ['https://$HOST/a', `https://${markOf('HOST')}/a`],
    ['https://api.example.com:$PORT/a', `https://api.example.com:${markOf('PORT')}/a`],
    [`'https://api.example.com/{id}/[1-3]'`, 'https://api.example.com/{id}/[1-3]'],
    [`'https://api.example.com/?a\\[\\]=\\{b\\}'`, 'https://api.example.com/?a[]={b}'],
    [`-g 'https://api.example.com/?a\\[\\]'`, 'https://api.example.com/?a\\[\\]'],
    ['https://api.example.com/a?b=c&d=e', `${URL_}?b=c&d=e`],
    [`${URL_} https://other.example.com`, URL_],
  ])('is read: curl %s', (command, url) => {
    expect(read(`curl ${command}`).url).toBe(url)
  })

  it('has a target that is no path, which cannot be imported', () => {
    expect(readCurl(`curl --request-target '*' -X OPTIONS ${URL_}`)).toMatchObject({
      ok: false,
      error: { message: 'the request target does not start with /. Such requests cannot be imported' },
    })
  })
})

describe('credentials', () => {
  it.each<[string, ImportedRequest['auth']]>([
    ['', { kind: 'none' }],
    ['-u user:pass:word', { kind: 'basic', user: 'user', password: 'pass:word' }],
    ['-uuser:', { kind: 'basic', user: 'user', password: '' }],
    ['-u "$USER:$PASSWORD"', { kind: 'basic', user: markOf('USER'), password: markOf('PASSWORD') }],
    ["--user 'ü:é'", { kind: 'basic', user: 'ü', password: 'é' }],
    ['--oauth2-bearer abc', { kind: 'bearer', token: 'abc' }],
    ['--oauth2-bearer abc -u user:password', { kind: 'bearer', token: 'abc' }],
    ["-H 'Authorization: Bearer abc'", { kind: 'bearer', token: 'abc' }],
    ["-H 'authorization: Basic dXNlcjpwYXNz'", { kind: 'basic', user: 'user', password: 'pass' }],
    ["-u user:password -H 'Authorization:'", { kind: 'none' }],
    ['--digest -u user:password', { kind: 'none' }],
    ['--aws-sigv4 aws:amz -u key:secret', { kind: 'none' }],
  ])('are kept apart from the headers: curl %s', (options, auth) => {
    expect(read(`curl ${options} ${URL_}`)).toMatchObject({ auth, headers: [] })
  })

  it.each([
    'Token abc',
    'bearer abc',
    'Basic not-base64',
    'Basic dXNlcg==',
    'Basic dXNlcjpwYXNz=',
    'Bearer a b',
    'AWS4-HMAC-SHA256 Credential=a, Signature=b',
  ])('stay in a header that could not be written again in the same way: %s', value => {
    expect(read(`curl -u user:password -H 'Authorization: ${value}' ${URL_}`)).toMatchObject({
      auth: { kind: 'none' },
      headers: [{ name: 'Authorization', value }],
    })
  })

  it('of the URL are used unless others are given', () => {
    const url = 'https://us%65r:p%40ss@api.example.com/a'
    expect(read(`curl ${url}`).auth).toEqual({ kind: 'basic', user: 'user', password: 'p@ss' })
    expect(read(`curl -u other:word ${url}`).auth).toEqual({ kind: 'basic', user: 'other', password: 'word' })
  })
})

describe('headers', () => {
  it.each([
    [
      "-H 'A: b' -H 'a:c'",
      [
        ['A', 'b'],
        ['a', 'c'],
      ],
    ],
    ["-H 'A;'", [['A', '']]],
    ["-H 'A:' -H 'B:  '", []],
    ["-H 'no colon' -H ':b' -H 'a;b'", []],
    [
      '-A agent -e https://app.example.com -r 0-9',
      [
        ['User-Agent', 'agent'],
        ['Referer', 'https://app.example.com'],
        ['Range', 'bytes=0-9'],
      ],
    ],
    ["-A agent -H 'User-Agent: other'", [['User-Agent', 'other']]],
    ["-A agent -H 'User-Agent:'", []],
    ["-e 'https://app.example.com;auto'", [['Referer', 'https://app.example.com']]],
    ["-H 'Content-Type: application/json'", [['Content-Type', 'application/json']]],
    [
      "-H 'Cookie: a=1' -H 'Cookie: b=2'",
      [
        ['Cookie', 'a=1'],
        ['Cookie', 'b=2'],
      ],
    ],
    ["-H 'Cookie: no-value'", [['Cookie', 'no-value']]],
  ])('are read: curl %s', (options, headers) => {
    expect(read(`curl ${options} ${URL_}`).headers.map(({ name, value }) => [name, value])).toEqual(headers)
  })

  it.each<[string, string[]]>([
    ["-b 'a=1; b=2'", ['a=1', 'b=2']],
    ['-b a=1 --cookie b=2', ['a=1', 'b=2']],
    ["-H 'Cookie: a=1;b=2=3;'", ['a=1', 'b=2=3']],
    ["-b a=1 -H 'Cookie: b=2'", ['b=2']],
    ["-b a=1 -H 'Cookie:'", []],
    ['-b cookies.txt', []],
    ["-b ''", []],
  ])('have cookies: curl %s', (options, cookies) => {
    expect(read(`curl ${options} ${URL_}`)).toMatchObject({
      cookies: cookies.map(text => ({ name: text.slice(0, 1), value: text.slice(2) })),
      headers: [],
    })
  })
})

const FORM = 'application/x-www-form-urlencoded'

describe('the body', () => {
  it.each<[string, ImportedRequest['body']]>([
    ['-I', { kind: 'none' }],
    [
      '-d a=1 -d "b=c d&e"',
      {
        kind: 'form',
        text: 'a=1&b=c d&e',
        pairs: [
          { name: 'a', value: '1' },
          { name: 'b', value: 'c d' },
          { name: 'e', value: '' },
        ],
        contentType: FORM,
      },
    ],
    [
      '--data-urlencode "a=ü +" --data-urlencode "=b=" --data-urlencode "c d"',
      {
        kind: 'form',
        text: 'a=%C3%BC+%2B&b%3D&c+d',
        pairs: [
          { name: 'a', value: 'ü +' },
          { name: 'b=', value: '' },
          { name: 'c d', value: '' },
        ],
        contentType: FORM,
      },
    ],
    [
      '--data-urlencode "a=$B c"',
      {
        kind: 'form',
        text: `a=${markOf('B')}+c`,
        pairs: [{ name: 'a', value: `${markOf('B')} c` }],
        contentType: FORM,
      },
    ],
    ["-d ''", { kind: 'form', text: '', pairs: [], contentType: FORM }],
    ['--data-raw @a', { kind: 'form', text: '@a', pairs: [{ name: '@a', value: '' }], contentType: FORM }],
    [`--json '{"a":' --json '"b"}'`, { kind: 'json', text: '{"a":"b"}', contentType: 'application/json' }],
    [
      `--json '{}' -H 'Content-Type: application/problem+json'`,
      {
        kind: 'json',
        text: '{}',
        contentType: 'application/problem+json',
      },
    ],
    [
      `-H 'content-type: application/json' -d "{\\"a\\": $B, \\"c\\": \\"$D\\"}"`,
      {
        kind: 'json',
        text: `{"a": ${markOf('B')}, "c": "${markOf('D')}"}`,
        contentType: 'application/json',
      },
    ],
    [`-H 'Content-Type: application/json' -d '{'`, { kind: 'text', text: '{', contentType: 'application/json' }],
    [`-d '{"a":1}'`, { kind: 'text', text: '{"a":1}', contentType: FORM }],
    [`-H 'Content-Type: text/plain' --data-binary 'a\nb'`, { kind: 'text', text: 'a\nb', contentType: 'text/plain' }],
    [`-H 'Content-Type:' -d a`, { kind: 'text', text: 'a', contentType: undefined }],
    ['-T file', { kind: 'text', text: markOf('body'), contentType: undefined }],
    [
      '-d @file',
      { kind: 'form', text: markOf('body'), pairs: [{ name: markOf('body'), value: '' }], contentType: FORM },
    ],
    [
      '--data-urlencode name@file',
      {
        kind: 'form',
        text: `name=${markOf('name')}`,
        pairs: [{ name: 'name', value: markOf('name') }],
        contentType: FORM,
      },
    ],
    ['--json @file', { kind: 'json', text: markOf('body'), contentType: 'application/json' }],
  ])('is read: curl %s', (options, body) => {
    expect(read(`curl ${options} ${URL_}`).body).toEqual(body)
  })

  it.each<[string, [name: string, value: string, fileName?: string | undefined, contentType?: string][]]>([
    [
      "-F a=b -F 'c= d '",
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ["-F 'a=b;type=text/x; charset=y ;filename=z'", [['a', 'b', 'z', 'text/x; charset=y']]],
    ["-F 'a=b;c'", [['a', 'b']]],
    [`-F 'a="b;c\\"d"'`, [['a', 'b;c"d']]],
    ['-F a=@dir/b.png', [['a', markOf('a'), 'b.png', 'image/png']]],
    ["-F 'a=@b.txt;filename=c d'", [['a', markOf('a'), 'c d', 'text/plain']]],
    ["-F 'a=@b;type=text/x;filename=c.txt'", [['a', markOf('a'), 'c.txt', 'text/x']]],
    [`-F 'a=@"b,c;d.txt"'`, [['a', markOf('a'), 'b,c;d.txt', 'text/plain']]],
    [
      "-F 'a=@b,c.html'",
      [
        ['a', markOf('a'), 'b', 'application/octet-stream'],
        ['a', markOf('a_2'), 'c.html', 'text/html'],
      ],
    ],
    ["-F 'a=<b;type=text/x'", [['a', markOf('a'), undefined, 'text/x']]],
    ["--form-string 'a=@b;type=c'", [['a', '@b;type=c']]],
    ["-F 'a=(;type=multipart/x' -F b=c", [['b', 'c']]],
  ])('is a form with parts: curl %s', (options, parts) => {
    expect(read(`curl ${options} ${URL_}`).body).toEqual({
      kind: 'multipart',
      contentType: 'multipart/form-data',
      parts: parts.map(([name, value, fileName, contentType]) => ({ name, value, fileName, contentType })),
    })
  })

  it('is a multipart body of another type, without a boundary', () => {
    const source = `curl -F a=b -H 'Content-Type: multipart/related; boundary=c; type=d' ${URL_}`
    expect(read(source)).toMatchObject({ headers: [], body: { contentType: 'multipart/related; type=d' } })
  })

  it('has the type of its header, which is no longer among the headers', () => {
    expect(read(`curl -d a -H 'content-type: text/x' ${URL_}`)).toMatchObject({
      headers: [],
      body: { kind: 'text', contentType: 'text/x' },
    })
  })
})

describe('a file', () => {
  it('becomes a variable for its content', () => {
    expect(read(`curl -d @dir/order.json -F a=@b ${URL_}`.replace(' -F a=@b', '')).variables).toEqual([
      { name: 'body', written: '@dir/order.json', from: 'file' },
    ])
  })

  it('whose name is a variable is shown as it is written', () => {
    expect(read(`curl -F file=@$NAME ${URL_}`).variables).toContainEqual({
      name: 'file',
      written: '@$NAME',
      from: 'file',
    })
  })

  it.each([
    ['-d', '{  "a": 1}'],
    ['--data-binary', '{\n  "a": 1}\n'],
  ])('that is a here-document is read: %s', (option, text) => {
    const source = `curl ${option} @- ${URL_} -H 'Content-Type: application/json' <<'END'\n{\n  "a": 1}\nEND`
    expect(read(source)).toMatchObject({ body: { kind: 'json', text }, variables: [] })
  })
})

describe('what cannot be imported', () => {
  it.each([
    ['--digest -u a:b', 'Digest authentication cannot be imported. The user and password were left out.'],
    ['--ntlm -u a:b', 'NTLM authentication cannot be imported. The user and password were left out.'],
    ['--negotiate -u :', 'Kerberos authentication cannot be imported. The user and password were left out.'],
    ['--anyauth -u a:b', 'Basic authentication was assumed. curl would ask the API which kind it wants.'],
    ['--aws-sigv4 aws:amz -u a:b', 'AWS signatures cannot be imported. The keys were left out.'],
    ['-E cert.pem --key key.pem', 'Client certificates cannot be imported.'],
    ['-x http://proxy.example.com:3128', 'Proxies cannot be imported. The request goes directly to the API.'],
    [
      '--resolve api.example.com:443:10.0.0.1',
      'The address to connect to cannot be imported. The host of the URL decides it.',
    ],
    ['-n', 'Credentials in .netrc are not read.'],
    ['-K settings', 'Options in a file are not read.'],
    ['-k', 'The certificate of the API will be checked, although the command has -k.'],
    ['-H @headers.txt', 'Headers in a file are not read and were left out.'],
    ['-H nothing', 'A header without a colon was left out.'],
    ['-b cookies.txt', 'Cookies in a file are not read and were left out.'],
    ['-d @file', 'Files are not read. Their contents become parameters.'],
    ['-r 0-9 -d a', 'The range (-r) was left out, because there is a body.'],
    ['-u user', 'The command has no password. curl would ask for it.'],
    ['--brand-new-option', 'The unknown option --brand-new-option was left out.'],
    ['-%', 'The unknown option -% was left out.'],
    ['--sk-live-4f9XbQ27TzLm', 'An unknown option was left out.'],
    ["-d '{}'", 'The body is JSON, but curl sends it as a form, because the command sets no Content-Type for JSON.'],
    ["-H content-type:application/json -d '{'", 'The body is not valid JSON, although the Content-Type says so.'],
    ["-F 'a=b;headers=c'", 'Headers and encodings of parts of a form cannot be imported and were left out.'],
    ["-F 'a=@b,c'", 'Several files of one field are sent as fields of the same name, where curl would nest them.'],
    [
      '-F a=b -H content-type:text/x',
      'The Content-Type was changed to multipart/form-data, because -F sends such a body.',
    ],
    ['https://other.example.com', 'The command has several URLs. Only the first was read.'],
    ['> out.json', 'Redirections were left out.'],
    ['| jq .', 'Only the first curl command was read. The text after it was left out.'],
    ['; curl https://other.example.com', 'Only the first curl command was read. The text after it was left out.'],
    ['--next https://other.example.com', 'Only the request before --next was read.'],
  ])('is noted: curl %s', (options, note) => {
    expect(read(`curl ${URL_} ${options}`).notes).toContain(note)
  })

  it.each([
    ['api.example.com', 'The URL has no scheme: https was assumed, where curl would use http.'],
    [
      "'https://api.example.com/{a}'",
      'Braces and brackets in the URL were kept as they are. curl would replace them by values.',
    ],
    [
      "'https://api.example.com/[1-3]'",
      'Braces and brackets in the URL were kept as they are. curl would replace them by values.',
    ],
    [
      'https://api.example.com?a=1&b=2',
      'The URL is not in quotes. A shell would end the command at &; here the whole URL was read.',
    ],
  ])('is noted for a URL: %s', (url, note) => {
    expect(read(`curl ${url}`).notes).toEqual([note])
  })

  it.each([
    '-o out.json',
    '-O -J',
    '-sSfLv',
    '--compressed',
    '-w "%{http_code}"',
    '--max-time 5 --retry 3',
    '-c jar.txt',
    '--http2 -4',
    '--no-progress-meter --no-keepalive',
    '-i -#',
  ])('is no more than a detail of curl, and left out silently: %s', options => {
    expect(read(`curl ${options} ${URL_}`)).toMatchObject({ url: URL_, headers: [], notes: [] })
  })
})
