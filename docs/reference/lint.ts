import { rules } from '../../lib/command-line/lint'
import { blocks, pageOf, withCode } from './markdown'

const introduction = `# Lint a configuration

Some options are valid but risky, such as a redirection URI over plain HTTP. This command finds them:

\`\`\`sh
npx express-authorization-server lint oauth-options.mjs
\`\`\`

The file exports the options of \`createAuthorizationServer()\`, or a function that returns them, perhaps async, as \`options\` or as the default export. Its top-level code runs, so start your server elsewhere:

\`\`\`js
// oauth-options.mjs
import { registeredClients } from 'express-authorization-server/registration'
import { storeFrom } from 'express-authorization-server/stores'
const store = storeFrom(process.env)
export const options = { issuer: 'https://login.example', store, clients: registeredClients(store) /* … */ }
\`\`\`

It may also be JSON, or TypeScript: from Node 22.18 if only types must be left out, otherwise with \`NODE_OPTIONS='--import tsx'\` and [tsx](https://tsx.is).

The command checks the options and every enabled client, also of \`registeredClients(store)\`; it says so if it cannot list them. \`--json\` prints JSON, \`--allow RULE\` ignores a rule and is repeatable, \`--rules\` lists the rules with their sources.

The status is 0 without findings, 1 with findings, and 2 if the command is wrong, the file cannot be read, or no server starts with the options.`

const sectionOf = (severity: 'error' | 'warning', title: string, meaning: string): string =>
  blocks(
    `## ${title}`,
    meaning,
    ...rules
      .filter((each) => each.severity === severity)
      .map(({ rule, why, cure }) => `### ${rule}\n\n${withCode(`${why} ${cure}`)}`),
  )

export const lintPage = (): string =>
  pageOf(
    introduction,
    sectionOf('error', 'Errors', 'An error breaks a specification, or lets anybody misuse the server.'),
    sectionOf('warning', 'Warnings', 'A warning may be right for your server: allow it by name.'),
  )
