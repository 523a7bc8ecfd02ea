import { blocks, pageOf } from './markdown'
import groups from './warning-table.json'

const introduction = `# Warnings

Something around the server, such as a proxy or Redis, is probably set up wrongly. \`process.emitWarning\` gives an \`AuthorizationServerWarning\` with a code, once for each cause. \`node --disable-warning=CODE\` silences it (Node 21.3 and later).

Strangers can cause \`EAS_ISSUER_HOST\`, \`EAS_TLS_REQUIRED\` and \`EAS_TRUST_PROXY\` by a request, without harm. \`check()\` of \`redisStore()\` and \`postgresStore()\` finds their faults before a deployment.`

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
