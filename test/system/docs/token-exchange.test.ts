import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const docs = join(__dirname, '../../../docs')

test('the policy on the page of token exchange is the file that the tests run', () => {
  const example = readFileSync(join(docs, 'examples/token-exchange.ts'), 'utf8')
  expect(readFileSync(join(docs, 'token-exchange.md'), 'utf8')).toContain(`\`\`\`ts\n${example}\`\`\``)
})
