import { bootShop } from './boot.js'

/** `npm run local`: the example on a local cloud, until Ctrl-C. */

const print = (text: string) => console.log(text)
const cloud = await bootShop(print, {})
const { OrdersFunctionName: ordersFunction } = cloud.outputs.PostdateExample ?? {}

print(`
The shop is up. Place an order, with a reminder in 5 seconds and a cancellation in 10:

  curl -s ${cloud.endpoint}/2015-03-31/functions/${ordersFunction}/invocations \\
    -d "{\\"orderId\\":\\"42\\",\\"remindAt\\":\\"$(date -u -d '+5 seconds' +%FT%TZ)\\",\\"cancelAt\\":\\"$(date -u -d '+10 seconds' +%FT%TZ)\\"}"

You get the receipts, with recall handles. Below, the billing function logs "shop/order-placed" at once, "shop/remind-payment"
five and "shop/cancel-order" ten seconds later. The dispatcher is called every minute, the waker when something is due sooner.

The smoke test of a deployed stack works on this one, too:

  npm run postdate -- smoke --stack PostdateExample --endpoint ${cloud.endpoint}

Ctrl-C ends it; nothing is kept.
`)

let stopping = false
process.on('SIGINT', () => {
  if (stopping) process.exit(130)
  stopping = true
  print('\nStopping …')
  void cloud.stop().then(() => process.exit(0))
})
