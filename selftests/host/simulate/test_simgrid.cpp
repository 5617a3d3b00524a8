// SPDX-License-Identifier: GPL-2.0
/*
 * When flows end by SimGrid's solver of max-min fair rates, without latencies and corrections for
 * TCP, and by fluid.c. Standard input has lines "link NAME RATE", bytes per second, and then "flow
 * FROM TO BYTES LINK...", at most one for each pair of hosts. Prints when the last one ends by
 * SimGrid, and by how much ends of a flow differ at most, relative to SimGrid's.
 */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

extern "C" {
#include "simulate/fluid.h"
}

namespace s4u = simgrid::s4u;

struct Flow {
	s4u::Host *from;
	s4u::Host *to;
	uint64_t bytes;
	std::vector<uint32_t> links;
	double end;	/* by SimGrid */
};

/* Ends of flows by fluid.c, whose rates follow at once */
class Ends {
public:
	Ends(const std::vector<Flow> &flows, const std::vector<double> &rates) : end(flows.size())
	{
		if (fluid_init(&fluid, rates.data(), rates.size()))
			throw std::bad_alloc();
		for (size_t i = 0; i < flows.size(); i++) {
			fluid_begin(&fluid, flows[i].bytes, i);
			for (uint32_t link : flows[i].links)
				fluid_part(&fluid, link, 1);
			fluid_done(&fluid);
		}
		do {
			fluid.begun = true;
		} while (fluid_advance(&fluid, INFINITY, ended, this) > 0 && fluid.active);
	}

	~Ends()
	{
		fluid_free(&fluid);
	}

	double of(size_t flow) const
	{
		return end[flow];
	}

private:
	struct fluid fluid;
	std::vector<double> end;

	static void ended(uint32_t flow, void *arg)
	{
		Ends *ends = static_cast<Ends *>(arg);

		ends->end[flow] = ends->fluid.now;
	}
};

class World {
public:
	explicit World(s4u::NetZone *zone) : zone(zone) {}

	void read(const std::string &line)
	{
		std::istringstream words(line);
		std::string kind, name;
		double rate;

		words >> kind;
		if (kind == "flow") {
			read_flow(words);
			return;
		}
		words >> name >> rate;
		links[name] = rates.size();
		made.push_back(zone->create_link(name, rate)->seal());
		rates.push_back(rate);
	}

	/* All flows begin at one time. */
	void play()
	{
		std::vector<s4u::CommPtr> comms;

		for (const Flow &flow : flows)
			comms.push_back(s4u::Comm::sendto_async(flow.from, flow.to, flow.bytes));
		for (size_t i = 0; i < flows.size(); i++)
			flows[i].end = comms[i]->wait()->get_finish_time();
		std::printf("%.9f\n", s4u::Engine::get_clock());
	}

	double difference() const
	{
		Ends ends(flows, rates);
		double most = 0;

		for (size_t i = 0; i < flows.size(); i++)
			most = std::fmax(most, std::fabs(ends.of(i) / flows[i].end - 1));
		return most;
	}

	s4u::Host *any() const
	{
		return hosts.begin()->second;
	}

private:
	s4u::NetZone *zone;
	std::map<std::string, uint32_t> links;
	std::vector<s4u::Link *> made;
	std::vector<double> rates;
	std::map<std::string, s4u::Host *> hosts;
	std::vector<Flow> flows;

	s4u::Host *host(const std::string &name)
	{
		if (!hosts.count(name))
			hosts[name] = zone->create_host(name, 1.0)->seal();
		return hosts[name];
	}

	void read_flow(std::istringstream &words)
	{
		std::vector<s4u::LinkInRoute> route;
		std::string from, to, link;
		Flow flow;

		words >> from >> to >> flow.bytes;
		flow.from = host(from);
		flow.to = host(to);
		while (words >> link) {
			flow.links.push_back(links.at(link));
			route.emplace_back(made[flow.links.back()]);
		}
		zone->add_route(flow.from->get_netpoint(), flow.to->get_netpoint(), nullptr,
				nullptr, route, false);
		flows.push_back(flow);
	}
};

int main(int argc, char **argv)
{
	s4u::Engine engine(&argc, argv);
	std::string line;

	for (const char *config : { "network/model:CM02", "network/bandwidth-factor:1",
				    "network/latency-factor:1", "network/weight-S:0",
				    "network/crosstraffic:0" })
		s4u::Engine::set_config(config);

	s4u::NetZone *zone = s4u::create_full_zone("fabric");
	World world(zone);

	while (std::getline(std::cin, line))
		world.read(line);
	zone->seal();
	s4u::Actor::create("all", world.any(), [&world] { world.play(); });
	engine.run();
	std::printf("%.9f\n", world.difference());
	return 0;
}
