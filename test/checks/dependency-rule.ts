// Which room of lib/ may import which: `npm run lint` fails on an import that the table does not allow, on one that runs
// upwards, and on an entry that no file uses.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript-5.9'

/**
 * Each room, and what its files may import: rooms, single files of rooms, and packages. Every room may import itself and
 * `primitives`; every room but that one, `protocol`; every room above it, `store`. `.` is the top of lib/: what the package exports. Empty lines part
 * floors, the lowest first: a room imports only from lower floors, `*` from all of them. Guests stand beside the server,
 * so only the top knows them.
 */
const table = `
primitives:

protocol:

store:
jwt: jose
pages: express
extensions/resource-indicators:

limits: express-rate-limit

authorization: limits/counters
clients/document-fetch: limits/network limits/shares

stores: limits/counters authorization
audit: authorization express
extensions/token-types: authorization
client-authentication: limits jwt clients/document-fetch passport-http bcrypt express

doors: express pages/consent-page pages/texts/locale limits clients/document-fetch/document-fetch authorization audit/audit-log
  extensions/resource-indicators/resources client-authentication/method
clients: clients/document-fetch/document-fetch client-authentication/client-secret client-authentication/bcrypt stores
stores/redis: ioredis
stores/postgres: pg
stores/sqlite:

extensions: doors/plug-in
stores/from: stores/redis/redis-store stores/sqlite/sqlite-store stores/postgres
jwt/signing-keys: jwt authorization/issuer doors/plug-in
endpoints: authorization doors/context
token-endpoint: limits authorization extensions/token-types/bearer doors
token-endpoint/grant-types: limits jwt authorization extensions/resource-indicators/resource-indicators
  extensions/token-types/bearer client-authentication/bcrypt doors/plug-in @xmldom/xmldom xml-crypto
authorization-endpoint: authorization extensions/token-types/bearer doors

resource-server: limits jwt jwt/signing-keys/signing-key jwt/signing-keys/key-ring authorization extensions/resource-indicators/resource-indicators
  extensions/resource-indicators/resources
clients/dynamic-registration: authorization clients clients/document-fetch stores
  client-authentication/client-secret endpoints/server-urls
clients/metadata-documents: jwt/public-keys limits/network clients/open-clients clients/stated-metadata stores/records
  clients/document-fetch

http: * express express-rate-limit

connected-applications: authorization http/consent doors pages extensions/choices extensions/resource-indicators

config: * express

server: * express
device-authorization: limits authorization authorization-endpoint/requested-login
  http/consent doors/page-endpoint pages/consent-page pages/html
  pages/texts/locale doors/plug-in
dpop: jwt authorization/lookup doors/plug-in
extensions/jwt-access-tokens: jwt jwt/signing-keys
  extensions/resource-indicators/resource-indicators endpoints/server-urls doors/plug-in
form-post: doors/plug-in
legacy-tokens: authorization extensions/resource-indicators/resource-indicators
  token-endpoint/grant-types/built-in doors/plug-in
openid-connect: jwt jwt/signing-keys extensions/resource-indicators/resource-indicators resource-server
  clients/document-fetch pages/consent-page pages/html doors/plug-in doors/page-endpoint
pushed-requests: limits authorization doors/plug-in
request-objects: jwt authorization/requested authorization-endpoint/open-request client-authentication/client-keys
  clients/document-fetch/document-fetch doors/plug-in
testing:

.: *
paths: *
command-line: authorization client-authentication/bcrypt clients config
  clients/dynamic-registration/dynamic-clients stores/from stores/postgres
  jwt/signing-keys/signing-keys ../package.json stores
`

const floors = table
  .trim()
  .split('\n\n')
  .map((floor) => floor.split(/\n(?! )/))
const rooms = new Map(
  floors.flat().map((row) => {
    const [name = '', ...allowed] = row.split(/:?\s+|:$/).filter((word) => word !== '')
    return [name, new Set(allowed)] as const
  }),
)
const floorOf = (room: string) => floors.findIndex((rows) => rows.some((row) => row.startsWith(`${room}:`)))

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
    if (other === room) continue
    if (isOurs && !imported.startsWith('..') && floorOf(other) >= floorOf(room))
      mistakes.push(`lib/${file} imports upwards: ${imported}`)
    if (other === 'primitives' || (other === 'protocol' && room !== 'primitives')) continue
    if (other === 'store' && floorOf(room) > floorOf(other)) continue
    const entry = [imported, other, ...(isOurs ? ['*'] : [])].find((name) => rooms.get(room)?.has(name))
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
