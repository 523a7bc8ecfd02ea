import type { AuthorizationServerOptions } from '../../lib/config/options'
import { blocks, enumeration, pageOf, paragraphOf } from './markdown'
import { type Member, membersOf } from './tsdoc'

const introduction = `# Options

Options of \`createAuthorizationServer()\`, and of guards at the end. \`issuer\`, \`clients\` and \`scopes\` are required. Lifetimes and deadlines are seconds. For an MCP server, [\`mcp()\`](mcp.md) returns several.

A mistake stops the start; the error lists all, each with path and cure. [Warnings](warnings.md) tell later problems, and [lint](lint.md) finds options that are valid but risky. Options of plug-ins stand in their guides.`

const groups: Readonly<Record<string, readonly (keyof AuthorizationServerOptions)[]>> = {
  'The server': ['issuer', 'clients', 'store', 'counters', 'plugins', 'paths'],
  'What tokens allow': [
    'scopes',
    'defaultScope',
    'narrowScope',
    'offlineAccess',
    'implies',
    'resources',
    'defaultResource',
  ],
  'The resource owner': [
    'resourceOwner',
    'login',
    'logOut',
    'skipConsent',
    'rememberConsent',
    'choices',
    'stillAllowed',
    'authorizations',
  ],
  Clients: ['pkce', 'redirectUris', 'dynamicRegistration', 'verifyDigest', 'cors'],
  Tokens: ['lifetimes', 'refreshTokenRotation', 'refreshTokenExpiresIn', 'tokenType', 'guards'],
  Pages: ['pages'],
  Limits: ['limits'],
  Operation: [
    'storeDeadline',
    'closeDeadline',
    'bodyDeadline',
    'maintenance',
    'explainRefusals',
    'errorUri',
    'clock',
  ],
}

/** Options whose members have headings of their own. */
const nested: Readonly<Record<string, string>> = {
  scopes: 'ScopeOptions',
  resources: 'ResourceOptions',
  authorizations: 'AuthorizationsOptions',
  paths: 'PathOptions',
  lifetimes: 'LifetimeOptions',
  guards: 'GuardDefaults',
  pages: 'PageOptions',
  limits: 'ServerLimitOptions',
}

const ofServer = membersOf('AuthorizationServerOptions')

const sectionOf = ([title, names]: readonly [string, readonly string[]]): string =>
  blocks(
    `## ${title}`,
    ...names
      .flatMap((name) => ofServer.filter((member) => member.name === name))
      .map((member) => explained(member, nested[member.name])),
  )

function explained(member: Member, type?: string): string {
  if (type === undefined) return explainedAs(member.name, member)
  const members = membersOf(type).map((each) => explainedAs(`${member.name}.${each.name}`, each))
  return blocks(explainedAs(member.name, { ...member, shape: '' }), ...members)
}

const explainedAs = (heading: string, member: Member): string => blocks(`### ${heading}`, paragraphOf(member))

/** @param whose `others` are. */
function guardSection(title: string, type: string, others: readonly Member[], whose: string): string {
  const isShared = ({ name, text }: Member) =>
    others.some((other) => other.name === name && ['', other.text].includes(text))
  const [shared, own] = [membersOf(type).filter(isShared), membersOf(type).filter((each) => !isShared(each))]
  return blocks(
    `## ${title}`,
    `Besides ${enumeration(shared.map(({ name }) => `\`${name}\``))}, which are those of ${whose}:`,
    ...own.map((member) => explainedAs(`guard.${member.name}`, member)),
  )
}

export const optionsPage = (): string =>
  pageOf(
    introduction,
    ...Object.entries(groups).map(sectionOf),
    guardSection('bearerGuard()', 'BearerGuardOptions', membersOf('GuardDefaults'), 'the option `guards`'),
    guardSection('createBearerGuard()', 'StandaloneGuardOptions', ofServer, '`createAuthorizationServer()`'),
  )
