import { createInterface } from 'node:readline'
import type { ClientPlan, ClientReport } from './client-plan'
import { firstGeneration, type McpClient, secondGeneration } from './clients'
import { throughMcpRemote } from './mcp-remote'
import { decide } from './owner'

/** An MCP client: calls tools, and goes to the authorization server where it is sent there. */
async function run(plan: ClientPlan): Promise<void> {
  if (plan.generation === 'remote') return throughMcpRemote(plan, report)
  const client = plan.generation === 1 ? firstGeneration(plan) : secondGeneration(plan)
  await authorized(plan, client, () => client.connect())
  for (const tool of plan.tools)
    report({ tool, text: await authorized(plan, client, () => client.call(tool)) })
  const tokens = client.tokens()
  report({ scope: tokens?.scope, refreshToken: tokens?.refresh_token !== undefined })
  await client.close()
}

/** Does something, after the owner has approved it where the server asks for that. */
async function authorized<Result>(
  plan: ClientPlan,
  client: McpClient,
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    const { memory } = client
    const authorization = memory?.authorizationUrl
    if (!client.isUnauthorized(error) || memory === undefined || authorization === undefined) throw error
    memory.authorizationUrl = undefined
    report({ authorization })
    const answer = await decide(authorization, 'approve', plan.owner)
    report({ answer: answer.href })
    memory.checkState(answer)
    await client.finish(answer)
    return act()
  }
}

function report(line: ClientReport): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Runs the clients of the plans that arrive, a line each, one after another. */
async function serve(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    await run(JSON.parse(line)).catch((error: unknown) => {
      const { name, message } = error instanceof Error ? error : new Error(String(error))
      report({ error: name, message })
    })
    report({ ended: true })
  }
}

void serve().then(() => process.exit(0))
