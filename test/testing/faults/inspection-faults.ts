import type { Inspection, ListedRow } from '../../../lib/core/inspection.js'
import { type FaultyPersistence, faulty } from './faulty.js'

const changeInspection = (fault: string, change: (sound: Inspection) => Partial<Inspection>) =>
  faulty(fault, (sound) => ({ inspection: { ...sound.inspection, ...change(sound.inspection) } }))

const changeRow = (fault: string, change: (row: ListedRow) => ListedRow) =>
  changeInspection(fault, (sound) => ({
    list: async (request) => {
      const page = await sound.list(request)
      return { ...page, rows: page.rows.map(change) }
    },
  }))

/** Faults in what operators see and do. */
export const inspectionFaults: readonly FaultyPersistence[] = [
  changeInspection('lists the last instant of a window', (sound) => ({
    list: (request) => sound.list({ ...request, dueBefore: request.dueBefore + 1 }),
  })),
  changeInspection('leaves out the first instant of a window', (sound) => ({
    list: (request) => sound.list({ ...request, dueFrom: request.dueFrom + 1 }),
  })),
  changeInspection('has only one page', (sound) => ({
    list: async (request) => ({ rows: (await sound.list(request)).rows }),
  })),
  changeInspection('begins every page anew', (sound) => ({
    list: ({ cursor: _, ...request }) => sound.list(request),
  })),
  changeInspection('counts before it accepts', (sound) => ({
    list: async ({ accepts = () => true, ...request }) => {
      const page = await sound.list(request)
      return { rows: page.rows.filter(accepts) }
    },
  })),
  changeInspection('lists what was recalled', (sound) => ({
    list: ({ accepts = () => true, ...request }) => sound.list({ ...request, accepts }),
  })),
  changeRow('lists rows without their keys', ({ key: _, ...row }) => row),
  changeRow('lists leased rows as waiting', (row) => ({
    ...row,
    state: row.state === 'leased' ? 'waiting' : row.state,
  })),
  changeRow('forgets that a row was perhaps published', (row) => ({ ...row, perhapsPublished: false })),
  changeInspection('counts one row too many', (sound) => ({
    estimate: async (window) => {
      const cost = await sound.estimate(window)
      return { ...cost, rows: cost.rows + 1 }
    },
  })),
  changeInspection('peeks without the content', (sound) => ({
    peek: async (...asked) => {
      const peeked = await sound.peek(...asked)
      return peeked && { ...peeked, envelope: undefined }
    },
  })),
  changeInspection('puts back at once', (sound) => ({
    putBack: (address, _, now) => sound.putBack(address, now, now),
  })),
  changeInspection('says that it has put back what it has not', () => ({
    putBack: async (address, dueAt) => ({ outcome: 'put-back', address: { ...address, dueAt } }),
  })),
  changeInspection('purges nothing', () => ({ purge: async () => true })),
  faulty('lets any version of the pause be set', (sound) => {
    let pause = { paused: false, version: 0 }
    return {
      coordination: {
        ...sound.coordination,
        readPause: async () => pause,
        setPause: async (next) => {
          pause = next
          return true
        },
      },
    }
  }),
]
