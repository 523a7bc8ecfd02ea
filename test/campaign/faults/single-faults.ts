import { setTimeout } from 'node:timers/promises'
import { connectionSettings } from '../../../lib/stores/redis/connection'
import type { SingleStage } from './single-stage'
import type { Fault } from './stage'

type SingleFault = Fault<SingleStage>

const nothing = async (): Promise<void> => {}

/** What can happen to one Redis and on the way to it. Those that say so are over by themselves. */
export const singleFaults: readonly SingleFault[] = [
  {
    title: 'killed and restarted with its data',
    data: 'kept',
    trouble: 'must',
    seconds: [1, 5],
    begin: (stage) => stage.signal('SIGKILL'),
    end: (stage) => stage.restart('kept'),
  },
  {
    title: 'killed and restarted without its data',
    data: 'lost',
    trouble: 'must',
    seconds: [1, 5],
    begin: (stage) => stage.signal('SIGKILL'),
    end: (stage) => stage.restart('lost'),
  },
  {
    title: 'stopped (SIGSTOP)',
    data: 'kept',
    trouble: 'must',
    seconds: [3, 10],
    begin: (stage) => stage.signal('SIGSTOP'),
    end: (stage) => stage.signal('SIGCONT'),
  },
  {
    title: 'connections cut between command and reply, no new ones for a while',
    data: 'kept',
    trouble: 'must',
    seconds: [1.5, 5],
    begin: async ({ network }) => {
      network.loseReplies(Infinity)
      network.refuse(true)
    },
    end: async ({ network }) => {
      network.loseReplies(0)
      network.refuse(false)
    },
  },
  repliesLost(),
  {
    title: 'open connections silent, new ones good',
    data: 'kept',
    trouble: 'must',
    seconds: [0, 0],
    begin: async ({ network }) => network.silence(),
    end: nothing,
  },
  {
    title: 'memory full (noeviction)',
    data: 'kept',
    trouble: 'must',
    seconds: [1, 5],
    begin: async (stage) => void (await stage.sendCommand('CONFIG', 'SET', 'maxmemory', '1mb')),
    end: async (stage) => void (await stage.sendCommand('CONFIG', 'SET', 'maxmemory', '0')),
  },
  {
    title: 'made a replica (READONLY), then a master again',
    data: 'kept',
    trouble: 'must',
    seconds: [1.5, 5],
    begin: async (stage) => void (await stage.sendCommand('REPLICAOF', '127.0.0.1', '1')),
    end: async (stage) => void (await stage.sendCommand('REPLICAOF', 'NO', 'ONE')),
  },
  {
    title: 'SCRIPT FLUSH',
    data: 'kept',
    trouble: 'never',
    seconds: [0.5, 2],
    begin: async (stage) => void (await stage.sendCommand('SCRIPT', 'FLUSH')),
    end: async (stage) => void (await stage.sendCommand('SCRIPT', 'FLUSH')),
  },
  {
    title: 'FLUSHALL',
    data: 'lost',
    trouble: 'never',
    seconds: [0, 0],
    begin: async (stage) => void (await stage.sendCommand('FLUSHALL')),
    end: nothing,
  },
  {
    title: 'network of 100 ms',
    data: 'kept',
    trouble: 'never',
    seconds: [1, 5],
    begin: async ({ network }) => network.delay(50),
    end: async ({ network }) => network.delay(0),
  },
  {
    title: 'network slower than the deadline',
    data: 'kept',
    trouble: 'must',
    seconds: [1.5, 8],
    begin: async ({ network }) => network.delay(700),
    end: async ({ network }) => network.delay(0),
  },
  {
    title: 'switched over to its replica, old connections left with the old master (READONLY)',
    data: 'kept',
    trouble: 'may',
    seconds: [0, 0],
    begin: async (stage) => {
      await stage.addReplica()
      await stage.switchOver()
    },
    end: nothing,
  },
  {
    title: 'switched over to its replica, old connections left with the old master, which is cut off',
    data: 'forked',
    trouble: 'may',
    seconds: [0, 0],
    begin: async (stage) => {
      await stage.addReplica()
      await stage.switchOver()
      await stage.cutOff()
    },
    end: nothing,
  },
  {
    title: 'each write of an authorization delivered once more, when no request waits for it',
    data: 'kept',
    trouble: 'never',
    seconds: [1, 5],
    begin: async ({ network }) => network.copyWrites(true),
    end: async ({ network }) => {
      // Some of the authorizations must have ended before their creates come once more, however slow the machine is.
      while (network.copiedWrites() < 300) await setTimeout(20)
      network.copyWrites(false)
      await setTimeout(connectionSettings.commandTimeout + 100)
      await network.deliverCopies()
    },
  },
  {
    title: 'each write of an authorization delivered once more, within the deadline of creates',
    data: 'kept',
    trouble: 'never',
    seconds: [1, 5],
    begin: async ({ network }) => network.copyWrites(true),
    end: async ({ network }) => {
      // Again and again, so that copies arrive right after their authorization ended.
      for (let copies = 0; copies < 2000; copies += await network.deliverCopies()) await setTimeout(200)
      network.copyWrites(false)
      await network.deliverCopies()
    },
  },
]

function repliesLost(): SingleFault {
  let timer: NodeJS.Timeout | undefined
  return {
    title: 'a reply lost four times a second, and its command sent again',
    data: 'kept',
    trouble: 'may',
    seconds: [1.5, 10],
    begin: async ({ network }) => {
      timer = setInterval(() => network.loseReplies(1), 250)
    },
    end: async ({ network }) => {
      clearInterval(timer)
      network.loseReplies(0)
    },
  }
}
