import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { enumeration, list, pageOf, paragraphOf } from './markdown'
import { membersOf, root } from './tsdoc'

const introduction = `# Events

For your audit log and alarms. \`oauth.events\` is a typed \`EventEmitter\`; each guard of \`createBearerGuard()\` has an \`events\` of its own.

A request has one event for its outcome. All events of a request have the same \`requestId\`. No event: a request that a guard admits, or for which it asks for a token (401 without an error code), a consent page, a redirect to the login, an introspection, the revocation of a token that is gone, changes of registrations by your code, a preflight of an origin that \`cors\` does not admit.`

const listeners = `## Listeners

Listeners run before the response, which does not wait for their promises. A failing one causes only [\`EAS_EVENT_LISTENER\`](warnings.md#eas_event_listener). Without a listener, there is no event, and a response without an error has no \`X-Request-Id\` of the server.

An event follows the stored change; it is lost if the process dies in between. Two requests that end one authorization at once may both emit \`revoked\`. If the store does not confirm the end, the event of a request is \`failure\`, and \`oauth.revoke()\` rejects.`

const secrecy = `No event holds a code, token, secret, password, \`state\` or stored record, but the \`cause\` of your own functions is unchanged. \`subject\` and \`address\` are personal data.

The sender chooses \`clientId\` and, behind a proxy, perhaps \`address\`. In \`refused\`, \`subject\` is the owner whose authorization the credential names, although it may not be genuine. Texts have at most 256 characters, and U+FFFD in place of line breaks, control and format characters.`

const log = (program: string) => `## Write events into a log

With [pino](https://getpino.io), or any logger that takes an object and a text:

\`\`\`ts
${program}\`\`\``

const events = membersOf('AuditEvents')
const ofEvery = membersOf('AuditEvent')

/** What only some events have, each with the names of these events. */
function ofSome(): readonly string[] {
  const places = events.flatMap(({ name, type }) =>
    membersOf(type.slice(1, -1))
      .filter((member) => !ofEvery.some((other) => other.name === member.name))
      .map((member) => ({ member, event: `\`${name}\`` })),
  )
  const members = new Map(places.map(({ member }) => [member.name, member]))
  return [...members.values()].map((member) => {
    const where = places.filter((place) => place.member.name === member.name).map(({ event }) => event)
    return `\`${member.name}\` of ${enumeration(where)}: ${paragraphOf(member)}`
  })
}

export const eventsPage = (): string =>
  pageOf(
    introduction,
    '## Every event',
    ...events.map((event) => `### ${event.name}\n\n${event.text}`),
    '## Members',
    'Every event has these; what is unknown is undefined:',
    list(ofEvery.map((member) => `\`${member.name}\`: ${paragraphOf(member)}`)),
    'Some events have more:',
    list(ofSome()),
    secrecy,
    listeners,
    log(readFileSync(join(root, 'docs/examples/audit-log.ts'), 'utf8')),
  )
