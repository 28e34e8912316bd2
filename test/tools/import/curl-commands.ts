/**
 * Commands as people paste them. Hosts on the internet are replaced by examples, shells that would run what they get by
 * `cat`, and variables of a Makefile by names. `curl-recordings.json` has what curl sends for each.
 */

/** The commands in READMEs, documentation, scripts and comments of the packages that are installed here: all there are. */
export const PACKAGE_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  '@modelcontextprotocol/conformance': [`curl -s http://localhost:3001/mcp`],
  '@modelcontextprotocol/ext-apps': [
    `curl -LsSf https://astral.example.com/uv/install.sh | cat && export PATH="$HOME/.local/bin:$PATH"`,
  ],
  '@swc/core': [`curl https://raw.example.com/swc-project/swc/main/scripts/update-all-swc-crates.sh | cat`],
  '@types/node': [`curl -k https://localhost:8000/`],
  accepts: [`curl -I -H'Accept: text/html' http://localhost:3000/`],
  'better-sqlite3': [`curl -#f "https://www.example.com/$YEAR/sqlite-src-$VERSION.zip" > "source.zip" || exit 1`],
  bintrees: [
    `curl --data-urlencode "js_code@filename" \\
  -d "output_info=compiled_code&compilation_level=SIMPLE_OPTIMIZATIONS" \\
  http://closure-compiler.example.com/compile \\
  > rbtree.min.js`,
  ],
  dotenv: [`curl -fsS https://dotenvx.example.com/ | cat`],
  fastify: [
    `curl -X POST https://$GOOGLE_REGION-$GOOGLE_PROJECT.cloudfunctions.example.com/me \\
  -H "Content-Type: application/json" \\
  -d '{ "name": "Fastify" }'`,
    `curl -X GET "http://localhost:3000/?ids=1"`,
    `curl localhost:8080/ping`,
    `curl 'localhost:8080/auth?username=admin&password=Password123!'`,
    `curl -k https://api.example.com`,
    `curl -H 'authorization: Bearer abc123' http://127.0.0.1:8000/one`,
    `curl http://127.0.0.1:8000/two`,
    `curl http://127.0.0.1:8000/three`,
    `curl http://127.0.0.1:8000/example/near/15°N-30°E/radius/20`,
    `curl http://127.0.0.1:8000/example/12345/abc.zHi`,
    `curl -X POST -d 'hello=world' -H'Content-type: application/x-www-form-urlencoded' http://localhost:3000/`,
    `curl -X POST -d '{"hello":"world"}' -H'Content-type: application/json' http://localhost:3000/`,
    `curl -X POST -d '{"hello":"world"}' -H'Content-type: application/jsoff' http://localhost:3000/`,
    `curl -X POST -d '{"hello":"world"}' -H'Content-type: application/vnd.custom+json' http://localhost:3000/`,
    `curl -i -X GET -H 'Content-Type: application/json' localhost:3000/ > GET`,
    `curl -i -X POST -H 'Content-Type: application/json' localhost:3000/post/$NUMBER --data {} > POST`,
    `curl -i -X PUT -H 'Content-Type: application/json' localhost:3000/put/$NUMBER --data {} > PUT`,
    `curl -i -X DELETE -H 'Content-Type: application/json' localhost:3000/delete/$NUMBER --data {} > DELETE`,
  ],
  'gpt-tokenizer': [
    `curl -fL \\
  https://developers.example.com/_astro/models-page-data.react.DettWjxs.js \\
  -o "models-page-data.js"`,
  ],
  he: [`$ curl -sL "http://short.example.com/HnfEaw" | cat > escaped.html`],
  'playwright-core': [
    `curl -L --retry 3 -o ./chrome.dmg https://dl.example.com/chrome/mac/universal/stable/GGRO/chrome.dmg`,
    `curl -L https://packages.example.com/keys/microsoft.asc | cat > microsoft.gpg`,
    `curl -L -O https://dl.example.com/linux/direct/google-chrome-stable_current_amd64.deb`,
  ],
  router: [
    `curl http://127.0.0.1:8080`,
    `curl http://127.0.0.1:8080/such_path`,
    `curl http://127.0.0.1:8080/api/set-message -X PATCH -H "Content-Type: application/json" -d '{"value":"Cats!"}'`,
  ],
}

/** Commands written like those in the references of public APIs, with the same options, quotes and variables. */
export const API_COMMANDS: readonly string[] = [
  `curl https://api.example.com/v1/charges \\
  -u "sk_test_26PHem9AhJZvU623DfE1x4sd:" \\
  -d amount=2000 \\
  -d currency=usd \\
  -d "metadata[order_id]"=6735 \\
  -d description="My First Test Charge (created for API docs)"`,
  `curl -G https://api.example.com/v1/charges -u sk_test_26PHem9AhJZvU623DfE1x4sd: -d limit=3`,
  `curl -L \\
  -X POST \\
  -H "Accept: application/vnd.github+json" \\
  -H "Authorization: Bearer <YOUR-TOKEN>" \\
  -H "X-GitHub-Api-Version: 2022-11-28" \\
  https://api.example.com/repos/OWNER/REPO/issues \\
  -d '{"title":"Found a bug","body":"I'\\''m having a problem with this.","assignees":["octocat"],"labels":["bug"]}'`,
  `curl https://api.example.com/v1/chat/completions \\
  -H "Content-Type: application/json" \\
  -H "Authorization: Bearer $API_KEY" \\
  -d '{
    "model": "gpt-4o-mini",
    "messages": [{"role": "user", "content": "Say this is a test!"}],
    "temperature": 0.7
  }'`,
  `curl -X POST "https://api.example.com/2010-04-01/Accounts/\${ACCOUNT_SID}/Messages.json" \\
  --data-urlencode "To=+15558675310" \\
  --data-urlencode "From=+15017122661" \\
  --data-urlencode "Body=Hi there, it's 5 o'clock (ünïcode) & more!" \\
  -u "$ACCOUNT_SID:$AUTH_TOKEN"`,
  `curl -F file=@photo.png -F "initial_comment=Shakes the cat" -F channels=C024BE91L -H "Authorization: Bearer xoxp-xxxxxxxxx-xxxx" https://slack.example.com/api/files.upload`,
  `curl --request PUT --header "PRIVATE-TOKEN: $TOKEN" --url "https://gitlab.example.com/api/v4/projects/5/issues/85?state_event=close"`,
  `curl "https://api.example.com/search?q=a%20b+c&tags[]=x&sort=-date#results" -g`,
  `curl 'https://api.example.com/?foo\\[\\]=bar&q=\\{x\\}' -H 'accept: application/json' -H 'sec-fetch-mode: cors' --compressed`,
  `curl -X PUT "https://search.example.com/products/_doc/1?pretty" -H 'Content-Type: application/json' -d'
{
  "name": "Bike",
  "price": 12.5
}
'`,
  `curl -s -X GET 'https://api.example.com/items' -H 'accept: */*' -H 'Content-Type: application/json'`,
  `curl -XPOST -sSL -H "Content-Type: text/plain" --data-binary "one
two" https://logs.example.com/ingest`,
  `curl -d '{"query": "{ viewer { login } }"}' -H "Authorization: bearer $TOKEN" https://api.example.com/graphql`,
  `curl -X POST -d "grant_type=client_credentials&scope=read%20write" -u "$CLIENT_ID:$CLIENT_SECRET" https://auth.example.com/oauth/token`,
  `curl -X POST -H "Content-Type: application/xml" -d "<order id=\\"1\\"><item>&amp;</item></order>" https://api.example.com/orders`,
  `curl $'https://api.example.com/notes' -H $'X-Note: it\\'s' --data-raw $'{"t":"a\\\\nb\\u00e9\\x21"}' -H 'content-type: application/json;charset=UTF-8' --compressed`,
  `curl -d @- https://api.example.com/events -H 'Content-Type: application/json' <<'END'
{
  "name": "$NOT_A_VARIABLE"
}
END`,
  `curl --json @- https://api.example.com/events <<END
{"name": "$NUMBER", "cost": "\\$5"}
END`,
  `curl --data-binary @- https://api.example.com/echo <<< "one line"`,
  `curl -X DELETE https://api.example.com/v1/customers/cus_4QFJOjw2pOmAGJ -H 'Idempotency-Key: AGJ6FJMkGQIpHUTX' -o /dev/null -w '%{http_code}'`,
  `curl -XOPTIONS -H 'Origin: https://app.example.com' -H 'Access-Control-Request-Method: POST' https://api.example.com/`,
  `curl -d "" https://api.example.com/jobs/42/retry`,
  `curl -H 'Content-Type:' -d 'raw' https://api.example.com/raw`,
  `curl -H 'Content-Type: multipart/form-data' -F 'model=whisper-1' -F 'file=@notes.txt' https://api.example.com/v1/audio/transcriptions`,
  `curl --cookie "session=abc123" --cookie-jar jar.txt https://app.example.com/account`,
  `curl -H "Authorization: Basic $(echo dXNlcjpwYXNz)" https://api.example.com/`,
  `TOKEN=unused curl -sS -- https://api.example.com/dash`,
  `cd . && curl -s https://api.example.com/after; echo done`,
]

/** The examples of curl’s manual. */
const MANUAL_COMMANDS: readonly string[] = [
  `curl -# -O https://example.com/file`,
  `curl --basic --user me:pwd https://example.com`,
  `curl --data-ascii @file https://example.com`,
  `curl --data-binary @filename https://example.com`,
  `curl --data-raw "@at@at@" https://example.com`,
  `curl --data-urlencode =encodethis https://example.com`,
  `curl --data-urlencode @fileonly https://example.com`,
  `curl --data-urlencode name=val https://example.com`,
  `curl --data-urlencode name@file https://example.com`,
  `curl --form "name=curl" --form "file=@loadthis" https://example.com`,
  `curl --get -I -d "tool=curl" https://example.com`,
  `curl --get -d "tool=curl" -d "age=old" https://example.com`,
  `curl --get https://example.com`,
  `curl --json '{ "drink": "coffe" }' https://example.com`,
  `curl --json '{ "drink":' --json ' "coffe" }' https://example.com`,
  `curl --json @prepared https://example.com`,
  `curl --location-trusted -u user:password https://example.com`,
  `curl --oauth2-bearer "mF_9.B5f-4.1JqM" https://example.com`,
  `curl --post301 --location -d "data" https://example.com`,
  `curl --range 22-44 https://example.com`,
  `curl --referer "https://fake.example" https://example.com`,
  `curl --referer "https://fake.example;auto" -L https://example.com`,
  `curl --referer ";auto" -L https://example.com`,
  `curl -b "name=Daniel; session=12" -b "theme=dark" https://example.com/a/../b/./c`,
  `curl -A "Agent 007" https://example.com`,
  `curl -A "" -H "Accept:" https://example.com`,
  `curl -H "X-First-Name: Joe" -H "X-Empty;" -H "Host: other.example.com" https://example.com`,
  `curl -T file https://example.com/upload/`,
  `curl -T file -H "Content-Type: text/csv" https://example.com/upload/name.csv`,
  `curl -F "web=@index.html;type=text/html" https://example.com`,
  `curl -F "story=<file" -F "name=daniel;type=text/foo" https://example.com`,
  `curl -F 'file=@"loadthis";filename="name, with; marks.txt"' -F 'note=a;b' https://example.com`,
  `curl --form-string "name=@no;type=file" https://example.com`,
  `curl -F 'a=b;type=text/x; charset=y ;filename=z' https://example.com`,
  `curl -G --json '{"a":1}' https://example.com`,
  `curl --request-target "/a?b" --url-query c https://example.com/d`,
  `curl --url https://example.com --url-query "name=a b" --url-query "+raw=1%20"`,
  `curl --request-target "/other?x=1" https://example.com/path`,
  `curl https://user:p%40ss@example.com/private`,
  `curl -u user:password -H "Authorization: Token abc" https://example.com`,
]

export const COMMANDS: readonly string[] = [
  ...Object.values(PACKAGE_COMMANDS).flat(),
  ...API_COMMANDS,
  ...MANUAL_COMMANDS,
]

/** The variables of the shell for these commands. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  GOOGLE_REGION: 'europe-west1',
  GOOGLE_PROJECT: 'shop',
  NUMBER: '7',
  YEAR: '2026',
  VERSION: '3500100',
  API_KEY: 'sk-0123456789',
  ACCOUNT_SID: 'AC0123456789',
  AUTH_TOKEN: 'a-secret-token',
  TOKEN: 'glpat-0123456789',
  CLIENT_ID: 'client',
  CLIENT_SECRET: 'p:w d',
}

/** The files in the folder in which the commands run. */
export const FILES: Readonly<Record<string, string>> = {
  file: 'a=1&b=two words\r\nlast line\n',
  filename: 'binary\nfile\n',
  fileonly: 'to be encoded: é & more\n',
  loadthis: 'loaded\n',
  prepared: '{"from": "a file"}\n',
  'index.html': '<p>Hello</p>\n',
  'photo.png': 'not really a picture',
  'notes.txt': 'some notes\n',
}
