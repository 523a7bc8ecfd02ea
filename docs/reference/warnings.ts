import { blocks, pageOf } from './markdown'
import groups from './warning-table.json'

const introduction = `# Warnings

Something around the server, such as a proxy or Redis, is probably set up wrongly. A warning goes through \`process.emitWarning\`, with the type \`AuthorizationServerWarning\` and a code, and comes once for each cause. \`node --disable-warning=CODE\` silences one (Node 21.3 and later).

Strangers can cause \`EAS_ISSUER_HOST\`, \`EAS_TLS_REQUIRED\` and \`EAS_TRUST_PROXY\` by a request, and do no harm with it. \`redisStore().check()\` and \`postgresStore().check()\` find the faults of their stores before a deployment; a server or guard checks when it starts to use one.`

export const warningsPage = (): string =>
  pageOf(
    introduction,
    ...Object.entries(groups).map(([title, warnings]) =>
      blocks(
        `## ${title}`,
        ...Object.entries(warnings).map(([code, { cause, cure }]) => `### ${code}\n\n${cause} ${cure}`),
      ),
    ),
  )
