// Which room of lib/ may import which: `npm run lint` fails on an import that the table does not allow, and on an entry of
// the table that no file uses.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript-5.9'

/**
 * Each room, and what its files may import: rooms, single files of rooms, and packages. Every room may import itself and
 * `primitives`; every room but that one, `protocol`. `.` is the top of lib/: what the package exports.
 */
const table = `
primitives:
protocol: http/pages/texts/locale
limits: express-rate-limit
jwt: jose
jwt/signing-keys: jwt authorization/issuer config/plug-in
authorization: limits/counters
clients: clients/document-fetch/document-fetch stores/in-memory client-authentication/client-secret
clients/document-fetch: limits/network limits/token-buckets
clients/metadata-documents: limits/network clients/client-source clients/shared-cache clients/document-fetch
clients/dynamic-registration: limits/network authorization clients/document-fetch clients/dynamic-client-store stores
  client-authentication/client-secret endpoints/server-metadata
stores: limits/counters authorization clients jwt/signing-keys/key-store
stores/redis: limits/counters authorization clients stores/deadline stores/storage ioredis jwt/signing-keys/key-store
extensions: config/plug-in
extensions/resource-indicators:
extensions/token-types: authorization
client-authentication: limits jwt clients/document-fetch passport-http bcrypt express
endpoints: authorization server/context
authorization-endpoint: authorization token-endpoint/restrict extensions/token-types/bearer server/context
token-endpoint: limits authorization extensions/token-types/bearer server/context
token-endpoint/grant-types: limits jwt authorization extensions/resource-indicators/resource-indicators
  extensions/token-types/bearer client-authentication/bcrypt token-endpoint/grant-type @xmldom/xmldom xml-crypto
extensions/jwt-access-tokens: jwt jwt/signing-keys extensions/choices
  extensions/resource-indicators/resource-indicators endpoints/server-metadata config/plug-in
dpop: authorization/lookup config/plug-in stores/in-memory
openid-connect: authorization jwt jwt/signing-keys extensions/resource-indicators/resource-indicators resource-server
  clients/document-fetch http/pages/consent-page http/pages/html http/pages/texts/locale config/plug-in
pushed-requests: limits authorization config/plug-in
form-post: config/plug-in
request-objects: jwt authorization/claim authorization-endpoint/login-return client-authentication/client-keys
  clients/document-fetch/document-fetch config/plug-in
device-authorization: limits authorization authorization-endpoint/polled-requests
  authorization-endpoint/requested-login authorization-endpoint/selection token-endpoint/grant-type stores/in-memory
  http/consent http/own-page http/pages/consent-page http/pages/consent-question http/pages/html
  http/pages/permissions http/pages/texts/locale config/plug-in
connected-applications: authorization authorization-endpoint/consent-memory authorization-endpoint/prior-consent
  http/consent http/own-page http/pages/connected-page http/pages/consent-page http/pages/texts/locale server/context
  server/gone-entries server/owner-authorizations
resource-server: limits jwt/key-source jwt/verified-tokens jwt/verify-jwt jwt/signing-keys/given-keys
  jwt/signing-keys/key-ring authorization extensions/resource-indicators/resource-indicators
  extensions/resource-indicators/resources
audit: authorization resource-server/admit testing/door express
http: limits authorization stores/deadline extensions/resource-indicators/resources client-authentication
  endpoints/protected-resource-metadata endpoints/server-metadata authorization-endpoint resource-server audit
  config/settings server/context express express-rate-limit
config: limits authorization clients clients/document-fetch/document-fetch
  clients/metadata-documents/metadata-documents clients/dynamic-registration/find-dynamic-clients
  clients/dynamic-registration/registration-options stores extensions/choices extensions/pkce
  extensions/resource-indicators/resource-indicators extensions/resource-indicators/resources
  extensions/token-types/bearer client-authentication/bcrypt client-authentication/credential-throttle
  client-authentication/method endpoints/protected-resource-metadata endpoints/server-metadata
  authorization-endpoint/consent-offer authorization-endpoint/polled-requests authorization-endpoint/prior-consent
  authorization-endpoint/response-modes authorization-endpoint/response-types token-endpoint/grant-type
  audit/diagnosis audit/warning connected-applications/authorizations-options http express jwt/signing-keys/key-store
server: limits jwt authorization clients clients/dynamic-registration stores extensions/choices
  extensions/resource-indicators extensions/token-types client-authentication endpoints authorization-endpoint
  connected-applications token-endpoint token-endpoint/grant-types resource-server audit http config testing express
command-line: authorization/authorization-index authorization/client-marks authorization/indexed-since
  authorization/issuer clients stores/redis/redis-store command-line/lint/lint command-line/lint/lint-rule
  jwt/signing-keys/manage-signing-keys ../package.json
command-line/lint: clients/client-store stores/deadline stores/in-memory client-authentication/bcrypt
  token-endpoint/grant-types/password/password config/options config/settings config/resolve-options
testing: limits/counters authorization clients/client-store clients/dynamic-client-store jwt/signing-keys/key-store
.: limits authorization clients clients/document-fetch clients/metadata-documents clients/dynamic-registration stores
  stores/redis extensions extensions/resource-indicators extensions/token-types client-authentication endpoints
  authorization-endpoint token-endpoint token-endpoint/grant-types resource-server audit
  connected-applications/authorizations-options http config server jwt/signing-keys extensions/jwt-access-tokens dpop
  openid-connect form-post request-objects device-authorization pushed-requests
`

const rooms = new Map(
  table
    .trim()
    .split(/\n(?! )/)
    .map((row) => {
      const [name = '', ...allowed] = row.split(/:?\s+|:$/).filter((word) => word !== '')
      return [name, new Set(allowed)] as const
    }),
)

/** The innermost room that a file stands in. */
function roomOf(file: string): string {
  const around = [...rooms.keys()].filter((room) => file.startsWith(`${room}/`))
  return around.toSorted((one, other) => other.length - one.length)[0] ?? '.'
}

const lib = join(__dirname, '../../lib')
const used = new Set<string>()
const mistakes: string[] = []
for (const file of readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
)) {
  const room = roomOf(file)
  used.add(room)
  const source = readFileSync(join(lib, file), 'utf8')
  for (const { fileName, pos } of ts.preProcessFile(source, true, true).importedFiles) {
    // A method of the name `require`, such as that of parameters, imports nothing.
    if (fileName.startsWith('node:') || source.slice(0, pos).endsWith('.require(')) continue
    const isOurs = fileName.startsWith('.')
    const imported = isOurs ? join(dirname(file), fileName) : fileName
    const other = isOurs ? roomOf(imported) : fileName
    if (other === room || other === 'primitives' || (other === 'protocol' && room !== 'primitives')) continue
    const entry = [imported, other].find((name) => rooms.get(room)?.has(name))
    if (entry === undefined) mistakes.push(`lib/${file} must not import ${imported}`)
    else used.add(`${room}: ${entry}`)
  }
}
for (const [room, allowed] of rooms) {
  if (!used.has(room)) mistakes.push(`The room ${room} has no files.`)
  for (const entry of allowed)
    if (!used.has(`${room}: ${entry}`))
      mistakes.push(`The row of ${room} allows ${entry}, which no file of it imports.`)
}
for (const mistake of mistakes) console.error(mistake)
process.exitCode = mistakes.length > 0 ? 1 : 0
